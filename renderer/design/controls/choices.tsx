/** Tabs, and a choice among a few options in place. */
import './choices.css';
import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup';
import { Icon, type IconName } from '../icon.tsx';

export interface SegmentedProps<T extends string> {
  readonly label: string;
  readonly choices: readonly { readonly id: T; readonly label: ReactNode; readonly icon?: IconName }[];
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly isDisabled?: boolean;
  readonly size?: 'normal' | 'small';
}

export function Segmented<T extends string>({
  label,
  choices,
  value,
  onChange,
  isDisabled = false,
  size = 'normal',
}: SegmentedProps<T>) {
  return (
    <ToggleButtonGroup
      aria-label={label}
      className={`segmented segmented-${size}`}
      selectionMode="single"
      disallowEmptySelection
      isDisabled={isDisabled}
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        const [key] = keys;
        if (key !== undefined) onChange(key as T);
      }}
    >
      {choices.map((choice) => (
        <ToggleButton key={choice.id} id={choice.id} className="segment">
          {choice.icon && <Icon name={choice.icon} />}
          {choice.label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}

export interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly { readonly id: T; readonly label: ReactNode; readonly content: ReactNode }[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

export function Tabs<T extends string>({ label, tabs, value, onChange }: TabsProps<T>) {
  return (
    <AriaTabs className="tabs" selectedKey={value} onSelectionChange={(key) => onChange(key as T)}>
      <TabList aria-label={label} className="tab-list">
        {tabs.map((tab) => (
          <Tab key={tab.id} id={tab.id} className="tab">
            {tab.label}
          </Tab>
        ))}
      </TabList>
      {tabs.map((tab) => (
        <TabPanel key={tab.id} id={tab.id} className="tab-panel">
          {tab.content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
