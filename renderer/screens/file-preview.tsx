/** One file shown as text, as an image, or as its facts. */
import type { FileFacts, FilePreview } from '../../engine/api/host/file-preview.ts';
import { formatBytes } from '../../engine/api/numbers.ts';
import { formatMoment } from '../design/format.ts';
import './file-preview.css';

/** A picture takes megabytes, and browsing a folder shows hundreds. */
export const PREVIEW_HELD_MS = 10_000;

export function FilePreviewView({ preview, name }: { readonly preview: FilePreview; readonly name: string }) {
  return (
    <figure className="file-preview">
      <Content preview={preview} name={name} />
      <figcaption>
        <Facts facts={preview.facts} />
      </figcaption>
    </figure>
  );
}

function Content({ preview, name }: { readonly preview: FilePreview; readonly name: string }) {
  switch (preview.as) {
    case 'text':
      return (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by keyboard */}
          <section className="file-preview-text" tabIndex={0} aria-label={`Text of ${name}`}>
            <pre>{preview.text}</pre>
          </section>
          {preview.isCut && <p className="file-preview-note">Showing only the beginning.</p>}
        </>
      );
    case 'image':
      return (
        <div className="file-preview-image">
          <img src={`data:${preview.mime};base64,${preview.base64}`} alt={name} />
        </div>
      );
    case 'facts':
      return <p className="file-preview-note">No preview for this kind of file.</p>;
  }
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
