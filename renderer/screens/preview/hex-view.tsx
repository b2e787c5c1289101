/** The first bytes of a file as hexadecimal digits and letters. */
import './hex-view.css';
import { useMemo } from 'react';
import { formatCount } from '../../../engine/api/text/numbers.ts';

export interface HexViewProps {
  /** In base64. */
  readonly start: string;
  readonly sizeBytes: number;
  readonly label: string;
  /** In one line. */
  readonly rowBytes?: number;
}

export function HexView({ start, sizeBytes, label, rowBytes = 16 }: HexViewProps) {
  const bytes = useMemo(() => Uint8Array.from(atob(start), (letter) => letter.charCodeAt(0)), [start]);
  const lines = useMemo(() => linesOf(bytes, rowBytes), [bytes, rowBytes]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
      <section className="hex-view" tabIndex={0} aria-label={label}>
        <pre>{lines.join('\n')}</pre>
      </section>
      {bytes.length < sizeBytes && (
        <p className="file-preview-note">The first {formatCount(bytes.length)} bytes.</p>
      )}
    </>
  );
}

function linesOf(bytes: Uint8Array, rowBytes: number): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += rowBytes) {
    const row = [...bytes.subarray(at, at + rowBytes)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    // Other characters may be invisible, or change the layout.
    const letters = row
      .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.'))
      .join('');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${digits.padEnd(3 * rowBytes - 1)}  ${letters}`);
  }
  return lines;
}
