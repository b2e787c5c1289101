/** Whether the end of a transfer is told; in a browser, which has to be allowed to. */
import { useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Switch } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { notificationPermission } from '../../shell/notify-endings.tsx';
import type { SettingProps } from './setting-props.ts';

export function NotificationSetting({ settings, set }: SettingProps) {
  return (
    <div className="stack">
      <Switch isSelected={settings.notifications} onChange={(notifications) => set({ notifications })}>
        Tell me
      </Switch>
      {settings.notifications && !window.dray && <BrowserPermission />}
    </div>
  );
}

function BrowserPermission() {
  const [permission, setPermission] = useState(notificationPermission);
  switch (permission) {
    case 'granted':
      return <p className="small faint">This browser shows them as long as this page is open.</p>;
    case 'default':
      return (
        <Notice
          actions={
            <Button size="small" onPress={async () => setPermission(await Notification.requestPermission())}>
              Allow
            </Button>
          }
        >
          This browser has to be allowed to show them.
        </Notice>
      );
    case 'denied':
      return (
        <Notice tone="warning">
          This browser shows none of this page. Allow them where it keeps its permissions for sites.
        </Notice>
      );
    case 'none':
      return <Notice tone="warning">This browser has no notifications for this page.</Notice>;
  }
}
