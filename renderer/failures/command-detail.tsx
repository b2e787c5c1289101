/** The advice of an error for a command line, in a closed detail with a command to copy. */
import { useState } from 'react';
import { Button } from '../design/controls/button.tsx';
import type { Failed } from './failed.ts';
import { commandDetail } from './failure-words.ts';

export function CommandDetail({ error }: { readonly error: Failed }) {
  const detail = commandDetail(error);
  const [isCopied, setCopied] = useState(false);
  if (!detail) return null;
  const { advice, command } = detail;
  const copy = (text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <details className="command-detail small">
      <summary>At a command line</summary>
      <p className="soft">{advice}</p>
      <p className="row">
        <span className="code grow">{command ?? advice}</span>
        <Button size="small" look="quiet" onPress={() => copy(command ?? advice)}>
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      </p>
    </details>
  );
}
