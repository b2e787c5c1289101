import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';

export function BrowseScreen() {
  return (
    <Screen title="Browse" isFull>
      <EmptyState title="Browse">To come.</EmptyState>
    </Screen>
  );
}
