/** The look of the window and the limits of transfers. Each choice applies at once. */
import { AnswerState } from '../failures/answer-state.tsx';
import './settings/settings.css';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef } from 'react';
import type { Settings } from '../../engine/api/host/settings.ts';
import { Segmented } from '../design/controls/choices.tsx';
import { Switch } from '../design/controls/field.tsx';
import { Screen } from '../design/screen.tsx';
import { useAsk, useHost } from '../host/use-host.tsx';
import { applyDensity } from '../shell/appearance/density.ts';
import { applyTheme } from '../shell/appearance/theme.ts';
import { showFailure } from '../shell/toasts/toasts.tsx';
import { BandwidthSetting } from './settings/bandwidth-setting.tsx';
import { ConcurrencySetting } from './settings/concurrency-setting.tsx';
import { CredentialsSetting } from './settings/credentials-setting.tsx';
import { NotificationSetting } from './settings/notification-setting.tsx';
import type { SettingChange, SettingProps } from './settings/setting-props.ts';

/** Set by the build. */
declare const DRAY_VERSION: string;

export function SettingsScreen() {
  const host = useHost();
  const client = useQueryClient();
  const settings = useAsk('settings.get', {});
  const key = ['settings.get', {}];
  const asked = useRef(0);
  const set = async (chosen: SettingChange): Promise<void> => {
    asked.current += 1;
    const own = asked.current;
    // Their answer may be older than this change.
    await client.cancelQueries({ queryKey: key });
    const before = client.getQueryData<Settings>(key);
    if (!before) return;
    const change = typeof chosen === 'function' ? chosen(before) : chosen;
    if (change.theme) applyTheme(change.theme);
    if (change.density) applyDensity(change.density);
    // At once: the next change builds on this one, however long the answer takes.
    client.setQueryData<Settings>(key, { ...before, ...change });
    try {
      const kept = await host.ask('settings.set', change);
      if (own === asked.current) client.setQueryData(key, kept);
    } catch (error) {
      showFailure('The setting was not saved', error);
      await client.invalidateQueries({ queryKey: key });
    }
  };
  return (
    <Screen title="Settings">
      <AnswerState of={settings} label="Reading your settings" title="Cannot read your settings" />
      {settings.data && <Sections settings={settings.data} set={set} />}
    </Screen>
  );
}

function Sections({ settings, set }: SettingProps) {
  return (
    <div className="settings">
      <Section title="Appearance" text="Light, dark, or the same as your system.">
        <Segmented<Settings['theme']>
          label="Theme"
          value={settings.theme}
          onChange={(theme) => set({ theme })}
          choices={[
            { id: 'system', label: 'System' },
            { id: 'light', label: 'Light' },
            { id: 'dark', label: 'Dark' },
          ]}
        />
      </Section>
      <Section title="Density" text="How much room the rows of all lists and tables take.">
        <Segmented<Settings['density']>
          label="Density"
          value={settings.density}
          onChange={(density) => set({ density })}
          choices={[
            { id: 'comfortable', label: 'Comfortable' },
            { id: 'compact', label: 'Compact' },
          ]}
        />
      </Section>
      <Section
        title="Bandwidth"
        text="The bandwidth that all transfers together may use in both directions, all day or at some hours. Running transfers follow at once."
      >
        <BandwidthSetting settings={settings} set={set} />
      </Section>
      <Section
        title="Concurrency"
        text="How many requests each transfer has in flight. By default Dray finds what the remote and the connection can take. Applies to new transfers."
      >
        <ConcurrencySetting settings={settings} set={set} />
      </Section>
      <Section title="Notifications" text="When a long transfer ends, or any transfer fails.">
        <NotificationSetting settings={settings} set={set} />
      </Section>
      <Section
        title="Remotes"
        text="While this window is visible, Dray asks the remote of each workspace for new commits every few minutes: one request each, and one for each new commit."
      >
        <Switch
          isSelected={settings.looksForIncoming}
          onChange={(looksForIncoming) => set({ looksForIncoming })}
        >
          Check for new commits
        </Switch>
      </Section>
      <Section
        title="Credentials"
        text="Enter them when you add a remote. The token of a machine is saved in a file that only you can read, and is sent only to that machine. The desktop app saves keys of buckets, encrypted by your system. In a browser the engine holds them in its memory until it ends."
      >
        <CredentialsSetting />
      </Section>
      <Section title="Updates" text={`This is Dray ${DRAY_VERSION}.`}>
        <p className="soft">
          Dray does not check for updates: it contacts no server, and nobody learns that you use it. Install a
          newer release over this one. Workspaces, remotes, settings and paused transfers stay as they are.
        </p>
      </Section>
    </div>
  );
}

function Section({
  title,
  text,
  children,
}: {
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}) {
  return (
    <section className="setting" aria-label={title}>
      <div>
        <h2>{title}</h2>
        <p className="soft">{text}</p>
      </div>
      <div className="setting-body">{children}</div>
    </section>
  );
}
