/** Both sides of one file: text line by line, images, or the known facts of other files. */
import './file-sides.css';
import type { FilePreview } from '../../../engine/api/host/file-preview.ts';
import { formatBytes, formatHash } from '../../../engine/api/numbers.ts';
import { formatMoment } from '../../design/format.ts';
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
      {isText(before) && isText(after) && (before || after) ? (
        <TextSides before={textOf(before)} after={textOf(after)} isCut={isCut(before) || isCut(after)} />
      ) : before?.as === 'image' || after?.as === 'image' ? (
        <div className="two-sides-images">
          <ImageSide title={titles.before} side={before} />
          <ImageSide title={titles.after} side={after} />
        </div>
      ) : (
        <p className="two-sides-none">This kind of file is shown by its size, time and hash only.</p>
      )}
    </div>
  );
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

function ImageSide({ title, side }: { readonly title: string; readonly side: FilePreview | undefined }) {
  if (side?.as !== 'image') return null;
  return (
    <figure className="two-sides-image">
      <img src={`data:${side.mime};base64,${side.base64}`} alt={title} />
      <figcaption className="faint small">{title}</figcaption>
    </figure>
  );
}
