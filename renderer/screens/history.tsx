import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';

export function HistoryScreen() {
  return (
    <Screen title="History" isFull>
      <EmptyState title="History">To come.</EmptyState>
    </Screen>
  );
}
