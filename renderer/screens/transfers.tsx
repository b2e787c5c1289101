import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';

export function TransfersScreen() {
  return (
    <Screen title="Transfers" isFull>
      <EmptyState title="Transfers">To come.</EmptyState>
    </Screen>
  );
}
