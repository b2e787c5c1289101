/** Form fields, each with its label, hint and error. */
import './field.css';
import '../overlays/menu.css';
import type { ReactNode, Ref } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import {
  Checkbox as AriaCheckbox,
  type CheckboxProps as AriaCheckboxProps,
} from 'react-aria-components/Checkbox';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { SearchField as AriaSearchField } from 'react-aria-components/SearchField';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Switch as AriaSwitch, type SwitchProps as AriaSwitchProps } from 'react-aria-components/Switch';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField, type TextFieldProps } from 'react-aria-components/TextField';
import { Icon, type IconName } from '../icon.tsx';

export interface FieldProps extends Omit<TextFieldProps, 'children' | 'className'> {
  readonly label: string;
  readonly help?: ReactNode;
  /** The error; shown if present. */
  readonly error?: string | undefined;
  readonly placeholder?: string;
  /** Allows several lines. */
  readonly rows?: number;
  readonly isCode?: boolean;
  /** Beside the input, such as a Browse button. */
  readonly after?: ReactNode;
  readonly isLabelUnseen?: boolean;
}

export function Field({
  label,
  help,
  error,
  placeholder = '',
  rows,
  isCode = false,
  after,
  isLabelUnseen = false,
  ...rest
}: FieldProps) {
  const look = `input ${isCode ? 'code' : ''}`;
  return (
    <TextField {...rest} isInvalid={error !== undefined} className="field">
      <Label className={isLabelUnseen ? 'unseen' : 'field-label'}>{label}</Label>
      <div className="row">
        {rows === undefined ? (
          <Input className={look} placeholder={placeholder} />
        ) : (
          <TextArea className={`${look} input-area`} rows={rows} placeholder={placeholder} />
        )}
        {after}
      </div>
      {help !== undefined && (
        <Text slot="description" className="field-help">
          {help}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </TextField>
  );
}

export interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly inputRef?: Ref<HTMLInputElement>;
  readonly autoFocus?: boolean;
}

export function Search({
  label,
  value,
  onChange,
  placeholder = label,
  inputRef,
  autoFocus = false,
}: SearchProps) {
  return (
    <AriaSearchField
      aria-label={label}
      value={value}
      onChange={onChange}
      autoFocus={autoFocus}
      className="search"
    >
      <Icon name="search" />
      <Input ref={inputRef ?? null} className="search-input" placeholder={placeholder} />
      <AriaButton className="search-clear" aria-label="Clear">
        <Icon name="close" size={12} />
      </AriaButton>
    </AriaSearchField>
  );
}

export interface Choice<T extends string> {
  readonly id: T;
  readonly label: string;
  /** A second line, smaller. */
  readonly note?: string;
}

export interface SelectProps<T extends string> {
  readonly label: string;
  readonly choices: readonly Choice<T>[];
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly isLabelUnseen?: boolean;
  readonly isDisabled?: boolean;
  readonly help?: ReactNode;
}

export function Select<T extends string>({
  label,
  choices,
  value,
  onChange,
  isLabelUnseen = false,
  isDisabled = false,
  help,
}: SelectProps<T>) {
  return (
    <AriaSelect
      className="field"
      isDisabled={isDisabled}
      value={value}
      onChange={(key) => {
        if (key !== null) onChange(key as T);
      }}
    >
      <Label className={isLabelUnseen ? 'unseen' : 'field-label'}>{label}</Label>
      <AriaButton className="button button-plain select-button">
        <SelectValue className="select-value cut" />
        <Icon name="chevronDown" size={12} />
      </AriaButton>
      {help !== undefined && (
        <Text slot="description" className="field-help">
          {help}
        </Text>
      )}
      <Popover className="popover" offset={4}>
        <ListBox className="menu" items={choices}>
          {(choice) => <ChoiceItem {...choice} />}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

/** A choice in a list box. */
export function ChoiceItem({
  icon,
  id,
  label,
  note,
}: Choice<string> & {
  /** Shown before the label, which is then a single line. */
  readonly icon?: IconName;
}) {
  return (
    <ListBoxItem id={id} textValue={label} className="menu-item">
      {icon && <Icon name={icon} />}
      <span className="grow">
        <Text slot="label" className={`menu-item-label ${icon ? 'cut' : ''}`}>
          {label}
        </Text>
        {note !== undefined && (
          <Text slot="description" className="menu-item-note cut">
            {note}
          </Text>
        )}
      </span>
    </ListBoxItem>
  );
}

export interface CheckboxProps extends Omit<AriaCheckboxProps, 'children' | 'className'> {
  readonly children?: ReactNode;
}

export function Checkbox({ children, ...rest }: CheckboxProps) {
  return (
    <AriaCheckbox {...rest} className="checkbox">
      {({ isSelected, isIndeterminate }) => (
        <>
          <span className="checkbox-box" aria-hidden="true">
            {(isSelected || isIndeterminate) && <Icon name={isIndeterminate ? 'minus' : 'check'} size={12} />}
          </span>
          {children}
        </>
      )}
    </AriaCheckbox>
  );
}

export interface SwitchProps extends Omit<AriaSwitchProps, 'children' | 'className'> {
  readonly children?: ReactNode;
}

export function Switch({ children, ...rest }: SwitchProps) {
  return (
    <AriaSwitch {...rest} className="switch">
      <span className="switch-track" aria-hidden="true" />
      {children}
    </AriaSwitch>
  );
}
