/** Whether to show a notification when a transfer ends. A browser must allow it. */
import { useState } from 'react';
import { Button } from '../../design/controls/button.tsx';
import { Switch } from '../../design/controls/field.tsx';
import { Notice } from '../../design/states.tsx';
import { notificationPermission, WHY_NOT_SHOWN } from '../../shell/notify-endings.tsx';
import type { SettingProps } from './setting-props.ts';

export function NotificationSetting({ settings, set }: SettingProps) {
  return (
    <div className="stack">
      <Switch isSelected={settings.notifications} onChange={(notifications) => set({ notifications })}>
        Notify me
      </Switch>
      {settings.notifications && !window.dray && <BrowserPermission />}
    </div>
  );
}

function BrowserPermission() {
  const [permission, setPermission] = useState(notificationPermission);
  switch (permission) {
    case 'granted':
      return <p className="small faint">This browser shows them while this page is open.</p>;
    case 'default':
      return (
        <Notice
          actions={
            <Button size="small" onPress={async () => setPermission(await Notification.requestPermission())}>
              Allow
            </Button>
          }
        >
          {WHY_NOT_SHOWN.default}
        </Notice>
      );
    case 'denied':
    case 'none':
      return <Notice tone="warning">{WHY_NOT_SHOWN[permission]}</Notice>;
  }
}
