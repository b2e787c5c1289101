/** The files of a job that failed, and the reasons. Reads their names from the destination on request. */
import { useState } from 'react';
import type { FleetProgress, OfFleetJob } from '../../../engine/api/host/fleet.ts';
import { formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Loading } from '../../design/states.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useAsk } from '../../host/use-host.tsx';

export function FailedFiles({
  progress: { failed, failedBy },
  ...job
}: OfFleetJob & { readonly progress: FleetProgress }) {
  const [isAsked, setAsked] = useState(false);
  const reasons = Object.entries(failedBy).filter(([, count]) => count > 0);
  return (
    <div className="stack">
      {reasons.length > 0 && (
        <ul className="fleet-reasons" aria-label="Failed files by reason">
          {reasons.map(([code, count]) => (
            <li key={code}>
              {formatPlural(count, 'file')}: <span className="code">{code}</span>
            </li>
          ))}
        </ul>
      )}
      {isAsked ? (
        <Files job={job} />
      ) : (
        <div>
          <Button size="small" icon="file" onPress={() => setAsked(true)}>
            Show {failed > 0 ? 'the failed files' : 'what it found'}
          </Button>
        </div>
      )}
    </div>
  );
}

function Files({ job }: { readonly job: OfFleetJob }) {
  const asked = useAsk('fleet.failures', { server: job.server, job: job.job }, { heldMs: 0 });
  const again = () => void asked.refetch();
  if (asked.isPending) return <Loading label="Reading the failed files from the destination" />;
  if (asked.error)
    return (
      <ErrorNotice
        lead="The failed files are not known here:"
        error={asked.error}
        onMended={again}
        actions={
          <Button size="small" icon="refresh" onPress={again}>
            Try again
          </Button>
        }
      />
    );
  const { files, isWhole } = asked.data;
  if (files.length === 0)
    return <p className="faint">The destination names no failed file yet. Parts name them when they end.</p>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
      <section className="fleet-scroll fleet-failed" aria-label="Failed files" tabIndex={0}>
        <table className="fleet-table">
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          <tbody>
            {files.map(({ code, message, path }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a file may have failed twice
              <tr key={at}>
                <th scope="row" className="code">
                  {path}
                </th>
                <td>
                  {message} {code !== undefined && <span className="code faint">{code}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {!isWhole && (
        <p className="small faint">
          The first {formatCount(files.length)}. The destination has all names below{' '}
          <span className="code">.dray-fleet/{job.job}/failures/</span>.
        </p>
      )}
    </>
  );
}
