import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';

export function PlanScreen() {
  return (
    <Screen title="Plan" isFull>
      <EmptyState title="Plan">To come.</EmptyState>
    </Screen>
  );
}
