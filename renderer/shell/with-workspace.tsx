import type { ReactNode } from 'react';
import type { WorkspaceCard } from '../../engine/api/host/home.ts';
import { Button, LinkButton } from '../design/controls/button.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState, Loading } from '../design/states.tsx';
import { ErrorState } from '../failures/failure.tsx';
import { useAsk } from '../host/use-host.tsx';
import { hrefOf } from '../route.ts';
import { useWorkspaces } from './use-workspace.ts';

/** A screen about a workspace. Without one it leads to Home. Each workspace gets a new screen. */
export function WithWorkspace({
  title,
  lesson,
  children,
}: {
  readonly title: string;
  /** One sentence about the screen's purpose, shown while there is no workspace. */
  readonly lesson: string;
  readonly children: (workspace: WorkspaceCard) => ReactNode;
}) {
  const { away, current } = useWorkspaces();
  const { isFetching, isPending, error, refetch } = useAsk('home.list', {}, { freshMs: 5_000 });
  if (current)
    return (
      <div key={current.root} className="screen">
        {children(current)}
      </div>
    );
  return (
    <Screen title={title} isFull>
      {isPending ? (
        <Loading label="Loading workspaces" />
      ) : error ? (
        <ErrorState title="Cannot read the workspaces" error={error} onRetry={refetch} />
      ) : away?.refusal ? (
        <ErrorState
          title={`${away.name} is not yours`}
          error={away.refusal}
          onRetry={() => void refetch()}
          actions={<LinkButton href={hrefOf('home')}>All workspaces</LinkButton>}
        />
      ) : away ? (
        <Away workspace={away} onLook={() => void refetch()} isLooking={isFetching} />
      ) : (
        <EmptyState
          icon="folder"
          title="No workspace yet"
          actions={
            <LinkButton href={hrefOf('home')} look="primary">
              Choose a folder
            </LinkButton>
          }
        >
          {lesson} It needs a workspace: a folder whose versions Dray keeps in storage of yours.
        </EmptyState>
      )}
    </Screen>
  );
}

/** Another workspace in its place would take the next push. */
function Away({
  isLooking,
  onLook,
  workspace: { name, root, state },
}: {
  readonly workspace: WorkspaceCard;
  readonly onLook: () => void;
  readonly isLooking: boolean;
}) {
  const isGone = state === 'missing';
  return (
    <EmptyState
      icon="folder"
      title={isGone ? `${name} is not there` : `${name} is not complete`}
      actions={
        <>
          <LinkButton href={hrefOf('home')}>All workspaces</LinkButton>
          <Button look="primary" onPress={onLook} isPending={isLooking}>
            Check again
          </Button>
        </>
      }
    >
      {isGone
        ? `${root} was moved, or its disk is not connected. Connect it, or choose another workspace.`
        : `${root} is being cloned. Home says how far it is.`}
    </EmptyState>
  );
}
