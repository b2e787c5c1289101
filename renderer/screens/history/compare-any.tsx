/** The difference between any two versions, chosen by name, by hash or from the list. */
import { IconButton } from '../../design/controls/button.tsx';
import { versionName } from '../refs/ref-task.ts';
import { VersionPicker } from '../refs/version-picker.tsx';
import { CompareView } from './compare-view.tsx';

/** Two commits, branches or tags. */
export interface Compared {
  readonly from: string;
  readonly to: string;
}

export interface CompareAnyProps {
  readonly root: string;
  readonly compared: Compared;
  readonly onChange: (compared: Compared) => void;
  readonly onClose: () => void;
}

export function CompareAny({ root, compared: { from, to }, onChange, onClose }: CompareAnyProps) {
  return (
    <section className="commit-panel" aria-label="Comparison">
      <div className="row">
        <h2 className="grow cut">
          From {versionName(from)} to {versionName(to)}
        </h2>
        <IconButton icon="close" label="End the comparison" size="small" onPress={onClose} />
      </div>
      <div className="compare-ends">
        <VersionPicker
          root={root}
          label="A, before"
          value={from}
          onChange={(next) => onChange({ from: next, to })}
        />
        <IconButton icon="refresh" label="Swap A and B" onPress={() => onChange({ from: to, to: from })} />
        <VersionPicker
          root={root}
          label="B, after"
          value={to}
          onChange={(next) => onChange({ from, to: next })}
        />
      </div>
      <CompareView root={root} from={from} to={to} />
    </section>
  );
}
