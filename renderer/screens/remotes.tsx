import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';

export function RemotesScreen() {
  return (
    <Screen title="Remotes" isFull>
      <EmptyState title="Remotes">To come.</EmptyState>
    </Screen>
  );
}
