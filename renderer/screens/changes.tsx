import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';

export function ChangesScreen() {
  return (
    <Screen title="Changes" isFull>
      <EmptyState title="Changes">To come.</EmptyState>
    </Screen>
  );
}
