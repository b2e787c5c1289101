import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';

export function SettingsScreen() {
  return (
    <Screen title="Settings" isFull>
      <EmptyState title="Settings">To come.</EmptyState>
    </Screen>
  );
}
