/** Actions on the chosen entries and on both panes. */
import { Button } from '../../design/controls/button.tsx';
import type { ChosenEntries } from './entries/choice.ts';
import type { Side } from './pane-state.ts';

export interface BrowseActionsProps {
  readonly chosen: ChosenEntries;
  /** The destination of a copy. */
  readonly other: Side;
  /** Both panes show the same folder. */
  readonly isBothSame: boolean;
  /** Nothing can be deleted here. */
  readonly isFixed: boolean;
  /** Nothing can be copied there. */
  readonly isOtherFixed: boolean;
  readonly isDeleting: boolean;
  readonly onLook: () => void;
  readonly onDelete: () => void;
  readonly onCopy: () => void;
  readonly onPlan: () => void;
}

export function BrowseActions(props: BrowseActionsProps) {
  const { chosen, isBothSame, isDeleting, isFixed, isOtherFixed, other } = props;
  const isNone = chosen.count === 0;
  return (
    <div className="row">
      <Button
        icon="search"
        isDisabled={chosen.count !== 1 || chosen.rows[0]?.kind === 'folder'}
        onPress={props.onLook}
      >
        Quick look
      </Button>
      <Button
        icon="trash"
        look="danger"
        isDisabled={isNone || isFixed}
        isPending={isDeleting}
        onPress={props.onDelete}
      >
        Delete
      </Button>
      <Button
        icon="copy"
        look="primary"
        isDisabled={isNone || isBothSame || isOtherFixed}
        onPress={props.onCopy}
      >
        Copy to the {other}
      </Button>
      <Button icon="refresh" isDisabled={isBothSame || isOtherFixed} onPress={props.onPlan}>
        Sync or copy all
      </Button>
    </div>
  );
}
