/** The progress and the result of dropped files. */

import { formatBytes, formatPlural } from '../../../../engine/api/text/numbers.ts';
import { Button } from '../../../design/controls/button.tsx';
import { Notice } from '../../../design/states.tsx';
import { dismissDrops, stopDrops, useDropProgress } from './drops.ts';

const NAMED_MAX = 3;

export function DropReport() {
  const progress = useDropProgress();
  if (!progress) return null;
  const { bytesDone, failures, filesDone, filesFailed, isOver, isStopped } = progress;
  const done = `${formatPlural(filesDone, 'file')}, ${formatBytes(bytesDone)}`;
  const words = isStopped
    ? `Stopped. Files that had arrived stay: ${done}.`
    : isOver
      ? `Dropped files have arrived: ${done}.`
      : `Sending dropped files: ${done}.`;
  return (
    <Notice
      tone={filesFailed > 0 ? 'danger' : isOver && !isStopped ? 'success' : 'info'}
      actions={
        <Button size="small" onPress={isOver ? dismissDrops : stopDrops}>
          {isOver ? 'Close' : 'Stop'}
        </Button>
      }
    >
      <p>{filesFailed > 0 && filesDone === 0 && isOver ? 'Nothing has arrived.' : words}</p>
      {filesFailed > 0 && (
        <ul>
          {failures.slice(0, NAMED_MAX).map(({ message, path }) => (
            <li key={`${path} ${message}`}>
              <strong>{path === '' ? 'A folder' : path}</strong>: {message}
            </li>
          ))}
          {filesFailed > NAMED_MAX && <li>and {formatPlural(filesFailed - NAMED_MAX, 'more failure')}</li>}
        </ul>
      )}
    </Notice>
  );
}
