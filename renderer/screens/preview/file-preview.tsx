/** One file shown as a table, as text, as an image, or by its facts and first bytes. */
import { lazy, Suspense, useState } from 'react';
import type { FileFacts, FilePreview } from '../../../engine/api/host/file-preview.ts';
import { formatBytes } from '../../../engine/api/text/numbers.ts';
import { Segmented } from '../../design/controls/choices.tsx';
import { formatMoment } from '../../design/format.ts';
import { Loading } from '../../design/states.tsx';
import { ContentText } from '../../jsx/content-text.ts';
import { HexView } from './hex-view.tsx';
import { TableView } from './table-view.tsx';
import './file-preview.css';

/** A picture takes megabytes, and browsing a folder shows hundreds. */
export const PREVIEW_HELD_MS = 10_000;

type Look = 'table' | 'text';

/** The two views of a file that is both a table and a text. */
export const LOOKS = [
  { id: 'table', label: 'Table' },
  { id: 'text', label: 'Text' },
] as const;

type Media = Extract<FilePreview, { as: 'media' }>;
type ImagePreview = Extract<FilePreview, { as: 'image' }>;

const PICTURE_FAILED = 'The browser cannot show this picture. It is damaged, or too large.';

const MediaView = lazy(() => import('./media-view.tsx'));

export interface FilePreviewProps {
  readonly preview: FilePreview;
  readonly name: string;
}

export function FilePreviewView({ preview, name }: FilePreviewProps) {
  const [look, setLook] = useState<Look>('table');
  const isTable = preview.as === 'text' && preview.table !== undefined;
  return (
    <figure className="file-preview">
      {isTable && <Segmented label="Show as" size="small" value={look} onChange={setLook} choices={LOOKS} />}
      <Content preview={preview} name={name} look={look} />
      <figcaption>
        <Facts facts={preview.facts} />
      </figcaption>
    </figure>
  );
}

/** Another version of the file is another player: what one has read is not played as the other. */
export function MediaPlayer({ kind, name }: { readonly kind: Media; readonly name: string }) {
  return (
    <Suspense fallback={<Loading label="Opening the player" />}>
      <MediaView key={JSON.stringify(kind)} kind={kind} name={name} />
    </Suspense>
  );
}

function Content({ preview, name, look }: FilePreviewProps & { readonly look: Look }) {
  switch (preview.as) {
    case 'text':
      if (preview.facts.sizeBytes === 0) return <p className="file-preview-note">An empty file.</p>;
      if (preview.table && look === 'table') return <TableView table={preview.table} name={name} />;
      return (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by keyboard */}
          <section className="file-preview-text" tabIndex={0} aria-label={`Text of ${name}`}>
            <pre>
              <ContentText text={preview.text} />
            </pre>
          </section>
          {preview.isCut && <p className="file-preview-note">Showing only the beginning.</p>}
        </>
      );
    case 'table':
      return <TableView table={preview.table} name={name} />;
    case 'media':
      return <MediaPlayer kind={preview} name={name} />;
    case 'image':
      return <Picture key={preview.base64} picture={preview} name={name} />;
    case 'facts':
      return (
        <>
          <p className="file-preview-note">{preview.why ?? 'No preview for this kind of file.'}</p>
          {preview.start !== undefined && (
            <HexView start={preview.start} sizeBytes={preview.facts.sizeBytes} label={`Bytes of ${name}`} />
          )}
        </>
      );
  }
}

/** The browser decodes it, so the browser finds the damage, or that it is too large. */
function Picture({ name, picture }: { readonly name: string; readonly picture: ImagePreview }) {
  const [isShown, setIsShown] = useState(true);
  if (!isShown) return <p className="file-preview-note">{PICTURE_FAILED}</p>;
  return (
    <div className="file-preview-image">
      <img
        src={`data:${picture.mime};base64,${picture.base64}`}
        alt={name}
        onError={() => setIsShown(false)}
      />
    </div>
  );
}

function Facts({ facts }: { readonly facts: FileFacts }) {
  return (
    <dl className="file-facts">
      <dt>Size</dt>
      <dd>{formatBytes(facts.sizeBytes)}</dd>
      {facts.mtime !== undefined && (
        <>
          <dt>Changed</dt>
          <dd>{formatMoment(facts.mtime)}</dd>
        </>
      )}
      {facts.hash !== undefined && (
        <>
          <dt>Hash</dt>
          <dd className="is-mono" title={facts.hash}>
            {facts.hash.slice(0, 16)}
          </dd>
        </>
      )}
    </dl>
  );
}
