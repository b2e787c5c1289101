/** Both sides of one change: text by lines, images, or what is known of anything else. */
import './preview-pane.css';
import { useEffect, useMemo, useState } from 'react';
import type { ChangeList, ChangeRow, FilePreview } from '../../../engine/api/host.ts';
import { ChangeBadge } from '../../design/badge.tsx';
import { formatBytes, formatHash, formatMoment, formatPlural } from '../../design/format.ts';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { type DiffRow, diffLines, foldSame } from './text-diff.ts';

/** A row has to be stayed at for so long, so that a held arrow key does not read every file. */
const STAY_MS = 120;

export interface PreviewPaneProps {
  readonly root: string;
  readonly list: ChangeList;
  readonly row: ChangeRow | undefined;
}

export function PreviewPane({ root, list, row }: PreviewPaneProps) {
  const stayed = useStayed(row);
  return (
    <section className="preview" aria-label="Preview">
      {!stayed ? (
        <EmptyState icon="file" title="No row is chosen">
          Choose a file to see what changed in it.
        </EmptyState>
      ) : (
        <>
          <header className="preview-head">
            <h2 className="cut grow" title={stayed.path}>
              {stayed.path.replace(/\/$/, '').split('/').at(-1)}
            </h2>
            <ChangeBadge change={stayed.change} />
          </header>
          {stayed.below || stayed.kind === 'folder' ? (
            <FolderFacts row={stayed} />
          ) : (
            <Sides key={stayed.path} root={root} list={list} row={stayed} />
          )}
        </>
      )}
    </section>
  );
}

function useStayed(row: ChangeRow | undefined): ChangeRow | undefined {
  const [stayed, setStayed] = useState(row);
  useEffect(() => {
    const timer = setTimeout(setStayed, STAY_MS, row);
    return () => clearTimeout(timer);
  }, [row]);
  return stayed;
}

function FolderFacts({ row }: { readonly row: ChangeRow }) {
  const { rows, deleted } = row.below ?? { rows: 0, deleted: 0 };
  if (!row.below)
    return (
      <EmptyState icon="folder" title="An empty folder">
        It has no content to show.
      </EmptyState>
    );
  return (
    <EmptyState icon="folder" title={formatPlural(rows, 'change')}>
      {formatBytes(row.sizeBytes)} below this folder
      {deleted > 0 ? `, with ${formatPlural(deleted, 'deletion')}` : ''}.
    </EmptyState>
  );
}

function Sides({ root, list, row }: PreviewPaneProps & { readonly row: ChangeRow }) {
  const { commit, direction } = list;
  const { data, error, refetch } = useAsk('changes.preview', {
    root,
    direction,
    path: row.path,
    ...(commit === undefined ? {} : { commit }),
    ...(row.fromPath === undefined ? {} : { fromPath: row.fromPath }),
  });
  if (error) return <ErrorState title="The file cannot be shown" error={error} onRetry={refetch} />;
  if (!data) return <Loading label="Reading the file" />;
  const { before, after } = data;
  const isText = (side: FilePreview | undefined) => side === undefined || side.as === 'text';
  return (
    <div className="preview-body">
      <div className="preview-facts">
        <Facts title={beforeTitle(direction)} side={before} />
        <Facts title={afterTitle(direction)} side={after} />
      </div>
      {isText(before) && isText(after) && (before || after) ? (
        <TextSides before={textOf(before)} after={textOf(after)} isCut={isCut(before) || isCut(after)} />
      ) : before?.as === 'image' || after?.as === 'image' ? (
        <div className="preview-images">
          <ImageSide title={beforeTitle(direction)} side={before} />
          <ImageSide title={afterTitle(direction)} side={after} />
        </div>
      ) : (
        <p className="preview-none">This kind of file is shown by its size, time and hash only.</p>
      )}
    </div>
  );
}

function beforeTitle(direction: 'push' | 'pull'): string {
  return direction === 'push' ? 'Last push' : 'Here';
}

function afterTitle(direction: 'push' | 'pull'): string {
  return direction === 'push' ? 'Here' : 'Remote';
}

function textOf(side: FilePreview | undefined): string {
  return side?.as === 'text' ? side.text : '';
}

function isCut(side: FilePreview | undefined): boolean {
  return side?.as === 'text' && side.isCut;
}

function Facts({ title, side }: { readonly title: string; readonly side: FilePreview | undefined }) {
  return (
    <dl className="facts">
      <dt>{title}</dt>
      {side ? (
        <>
          <dd className="facts-size">{formatBytes(side.facts.sizeBytes)}</dd>
          {side.facts.mtime !== undefined && <dd>{formatMoment(side.facts.mtime)}</dd>}
          {side.facts.hash !== undefined && <dd className="code">{formatHash(side.facts.hash)}</dd>}
        </>
      ) : (
        <dd>Not there</dd>
      )}
    </dl>
  );
}

function ImageSide({ title, side }: { readonly title: string; readonly side: FilePreview | undefined }) {
  if (side?.as !== 'image') return null;
  return (
    <figure className="preview-image">
      <img src={`data:${side.mime};base64,${side.base64}`} alt={title} />
      <figcaption className="faint small">{title}</figcaption>
    </figure>
  );
}

function TextSides({
  before,
  after,
  isCut,
}: {
  readonly before: string;
  readonly after: string;
  readonly isCut: boolean;
}) {
  const [isWhole, setWhole] = useState(false);
  const rows = useMemo(() => diffLines(before, after), [before, after]);
  const shown = useMemo(() => (isWhole ? rows : foldSame(rows)), [rows, isWhole]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className="text-sides" tabIndex={0} aria-label="Lines of both sides">
      <table className="text-table">
        <colgroup>
          <col className="text-numbers" />
          <col />
          <col className="text-numbers" />
          <col />
        </colgroup>
        <thead className="unseen">
          <tr>
            <th>Line before</th>
            <th>Before</th>
            <th>Line after</th>
            <th>After</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) =>
            'folded' in row ? (
              <tr key={`fold ${row.folded} ${shown.indexOf(row)}`} className="text-fold">
                <td colSpan={4}>
                  <button type="button" onClick={() => setWhole(true)}>
                    {formatPlural(row.folded, 'line')} the same
                  </button>
                </td>
              </tr>
            ) : (
              <TextRow key={`${row.left?.number ?? ''} ${row.right?.number ?? ''}`} row={row} />
            ),
          )}
        </tbody>
      </table>
      {isCut && <p className="preview-none">The file goes on; only its beginning is compared.</p>}
    </section>
  );
}

function TextRow({ row }: { readonly row: DiffRow }) {
  const isLeft = row.is === 'removed' || row.is === 'changed';
  const isRight = row.is === 'added' || row.is === 'changed';
  return (
    <tr>
      <td className="text-number">{row.left?.number}</td>
      <td className={`text-line ${isLeft ? 'text-removed' : row.left ? '' : 'text-absent'}`}>
        {row.left?.text}
      </td>
      <td className="text-number">{row.right?.number}</td>
      <td className={`text-line ${isRight ? 'text-added' : row.right ? '' : 'text-absent'}`}>
        {row.right?.text}
      </td>
    </tr>
  );
}
