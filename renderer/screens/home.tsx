import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';

export function HomeScreen() {
  return (
    <Screen title="Home" isFull>
      <EmptyState title="Home">To come.</EmptyState>
    </Screen>
  );
}
