/** Compares two versions of a file: as tables, texts, pictures, audio or video, or by the first bytes. */
import './file-sides.css';
import { useState } from 'react';
import type { FilePreview } from '../../../engine/api/host/file-preview.ts';
import { formatBytes, formatHash } from '../../../engine/api/text/numbers.ts';
import { Segmented } from '../../design/controls/choices.tsx';
import { formatMoment } from '../../design/format.ts';
import { LOOKS, MediaPlayer } from './file-preview.tsx';
import { HexView } from './hex-view.tsx';
import { ImageSides } from './image-sides.tsx';
import { TableSides } from './table-view.tsx';
import { TextSides } from './text-sides.tsx';

export interface FileSidesProps {
  /** Absent: it did not exist. */
  readonly before: FilePreview | undefined;
  readonly after: FilePreview | undefined;
  readonly titles: { readonly before: string; readonly after: string };
}

/** Fills the height that it is given. */
export function FileSides({ before, after, titles }: FileSidesProps) {
  return (
    <div className="two-sides">
      <div className="two-sides-facts">
        <Facts title={titles.before} side={before} />
        <Facts title={titles.after} side={after} />
      </div>
      <SideContent before={before} after={after} titles={titles} />
    </div>
  );
}

function SideContent({ before, after, titles }: FileSidesProps) {
  const [look, setLook] = useState<'table' | 'text'>('table');
  if (isText(before) && isText(after) && (before || after)) {
    const tables = { before: tableOf(before), after: tableOf(after) };
    const areTables = (!before || tables.before) && (!after || tables.after);
    return (
      <>
        {areTables && (
          <div className="two-sides-look">
            <Segmented label="Compare as" size="small" value={look} onChange={setLook} choices={LOOKS} />
          </div>
        )}
        {areTables && look === 'table' ? (
          <TableSides {...tables} />
        ) : (
          <TextSides before={textOf(before)} after={textOf(after)} isCut={isCut(before) || isCut(after)} />
        )}
      </>
    );
  }
  if ((before || after) && isTable(before) && isTable(after))
    return <TableSides before={tableOf(before)} after={tableOf(after)} />;
  if (before?.as === 'image' || after?.as === 'image')
    return <ImageSides before={pictureOf(before)} after={pictureOf(after)} titles={titles} />;
  const sides = [
    { title: titles.before, side: before },
    { title: titles.after, side: after },
  ];
  if (before?.as === 'media' || after?.as === 'media')
    return (
      <div className="media-sides">
        {sides.map(({ side, title }) => side && <MediaSide key={title} side={side} title={title} />)}
      </div>
    );
  const starts = sides.filter(({ side }) => startOf(side) !== undefined);
  if (starts.length === 0)
    return <p className="two-sides-none">This kind of file is shown by its size, time and hash only.</p>;
  return (
    <div className="hex-sides">
      {starts.map(({ side, title }) => (
        <div key={title}>
          {whyOf(side) !== undefined && <p className="file-preview-note">{whyOf(side)}</p>}
          <HexView
            start={startOf(side) ?? ''}
            sizeBytes={side?.facts.sizeBytes ?? 0}
            label={`Bytes of ${title}`}
            rowBytes={8}
          />
        </div>
      ))}
    </div>
  );
}

function MediaSide({ side, title }: { readonly side: FilePreview; readonly title: string }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {side.as === 'media' ? (
        <MediaPlayer kind={side} name={title} />
      ) : (
        <p className="file-preview-note">{whyOf(side) ?? 'This version is neither audio nor video.'}</p>
      )}
    </section>
  );
}

function tableOf(side: FilePreview | undefined) {
  return side?.as === 'text' || side?.as === 'table' ? side.table : undefined;
}

function isTable(side: FilePreview | undefined): boolean {
  return side === undefined || side.as === 'table';
}

function pictureOf(side: FilePreview | undefined) {
  return side?.as === 'image' ? side : undefined;
}

function startOf(side: FilePreview | undefined) {
  return side?.as === 'facts' ? side.start : undefined;
}

function whyOf(side: FilePreview | undefined) {
  return side?.as === 'facts' ? side.why : undefined;
}

function isText(side: FilePreview | undefined): boolean {
  return side === undefined || side.as === 'text';
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
