/** Remotes of other programs. Each fills the form, where missing parts can be added. */

import type { ImportCandidate } from '../../../engine/api/host/remotes.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { EmptyState } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { fieldsOf } from '../place-form/place-fields.ts';

const SOURCES = { aws: 'AWS profile', rclone: 'rclone' } as const;

interface ImportDialogProps {
  readonly onClose: () => void;
  readonly onTake: (candidate: ImportCandidate) => void;
}

export function ImportDialog({ onClose, onTake }: ImportDialogProps) {
  const found = useAsk('remotes.importable', {});
  return (
    <Dialog title="Import" isOpen onClose={onClose}>
      <AnswerState of={found} label="Reading ~/.aws and rclone.conf" title="Cannot read them" />
      {found.data?.candidates.length === 0 && (
        <EmptyState icon="search" title="Nothing found">
          There are no profiles in ~/.aws and no S3 remotes in rclone.conf.
        </EmptyState>
      )}
      <ul className="import-list">
        {found.data?.candidates.map((candidate) => (
          <li key={`${candidate.from} ${candidate.name}`} className="row">
            <div className="grow">
              <div className="row">
                <strong>{candidate.name}</strong>
                <Badge>{SOURCES[candidate.from]}</Badge>
              </div>
              <div className="small faint cut">{whereIs(candidate)}</div>
              {candidate.note !== undefined && <div className="small soft">{candidate.note}</div>}
            </div>
            <Button size="small" onPress={() => onTake(candidate)}>
              Use {candidate.name}
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** The store only; a profile names no bucket. */
function whereIs({ name, url }: ImportCandidate): string {
  const { endpoint, region } = fieldsOf(name, url);
  return [endpoint === '' ? 'Amazon S3' : endpoint, region].filter(Boolean).join(', ');
}
