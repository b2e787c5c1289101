/** How S3 clients read a version: endpoint, bucket, key, and programs to copy. */
import './s3-dialog.css';
import { useState } from 'react';
import type { VersionAccess } from '../../../engine/api/host/versions.ts';
import { Button, IconButton } from '../../design/controls/button.tsx';
import { Segmented } from '../../design/controls/choices.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useAsk, useDo } from '../../host/use-host.tsx';
import { copyText } from '../../shell/copy-text.ts';
import { type SnippetKind, snippetOf, UNKNOWN_KEYS } from './s3-snippets.ts';

const KINDS: readonly { readonly id: SnippetKind; readonly label: string }[] = [
  { id: 'python', label: 'Python' },
  { id: 'duckdb', label: 'DuckDB' },
  { id: 'rclone', label: 'rclone' },
];

export interface S3DialogProps {
  /** A file or folder of a version. */
  readonly place: string;
  readonly onClose: () => void;
}

export function S3Dialog({ place, onClose }: S3DialogProps) {
  // The gateway may have made its keys since.
  const access = useAsk('versions.access', { place }, { onReturn: true });
  return (
    <Dialog
      title="Read this version by S3"
      isOpen
      onClose={onClose}
      size="large"
      actions={
        <Button look="primary" onPress={onClose}>
          Close
        </Button>
      }
    >
      <AnswerState of={access} label="Reading the settings" title="Cannot say how to read it" />
      {access.data && <Access access={access.data} />}
    </Dialog>
  );
}

function Access({ access }: { readonly access: VersionAccess }) {
  const { accessKeyId, bucket, command, endpoint, key } = access;
  const [kind, setKind] = useState<SnippetKind>('python');
  const reveal = useDo('versions.secret');
  const secret = reveal.data?.secretAccessKey;
  const snippet = snippetOf(kind, access, {
    accessKeyId: accessKeyId ?? UNKNOWN_KEYS.accessKeyId,
    secretAccessKey: secret ?? UNKNOWN_KEYS.secretAccessKey,
  });
  return (
    <div className="stack">
      <p>
        Start the gateway in a terminal. It runs until you stop it, and clients can only read.
        {accessKeyId === undefined && ' Its first start makes a key pair and shows it.'}
      </p>
      <Copied label="Command" text={command} what="the command" />
      <dl className="s3-facts">
        <Fact label="Endpoint" text={endpoint} />
        <Fact label="Bucket" text={bucket} />
        <Fact label={key.endsWith('/') ? 'Keys begin with' : 'Key'} text={key} />
        {accessKeyId !== undefined && <Fact label="Access key" text={accessKeyId} />}
        {accessKeyId !== undefined && (
          <div>
            <dt>Secret key</dt>
            {secret === undefined ? (
              <dd>
                <Button size="small" isPending={reveal.isPending} onPress={() => reveal.mutate({})}>
                  Show the secret key
                </Button>
              </dd>
            ) : (
              // In place of the button that had the focus.
              <FactText label="Secret key" text={secret} hasFocus />
            )}
          </div>
        )}
      </dl>
      {reveal.error && <ErrorNotice error={reveal.error} />}
      <Segmented label="Program" choices={KINDS} value={kind} onChange={setKind} />
      <Copied label={`Snippet for ${labelOf(kind)}`} text={snippet} what="the snippet" />
    </div>
  );
}

function labelOf(kind: SnippetKind): string {
  return KINDS.find(({ id }) => id === kind)!.label;
}

interface FactProps {
  readonly label: string;
  readonly text: string;
  readonly hasFocus?: boolean;
}

function Fact({ label, text }: FactProps) {
  return (
    <div>
      <dt>{label}</dt>
      <FactText label={label} text={text} />
    </div>
  );
}

function FactText({ label, text, hasFocus = false }: FactProps) {
  const what = `the ${label.toLowerCase()}`;
  return (
    <dd className="row">
      <span className="code">{text}</span>
      <IconButton
        icon="copy"
        size="small"
        label={`Copy ${what}`}
        autoFocus={hasFocus}
        onPress={() => void copyText(text, what)}
      />
    </dd>
  );
}

function Copied({ label, text, what }: FactProps & { readonly what: string }) {
  return (
    <div className="s3-code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre className="code">{text}</pre>
      </section>
      <IconButton icon="copy" label={`Copy ${what}`} onPress={() => void copyText(text, what)} />
    </div>
  );
}
