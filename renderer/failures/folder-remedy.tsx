/** The button beside the refusal of another user's workspace. Its dialog says what trust means. */
import './failures.css';
import { FormDialog } from '../design/overlays/dialog.tsx';
import { Notice } from '../design/states.tsx';
import { useDo } from '../host/use-host.tsx';
import { failureWords } from './failure-words.ts';
import { type ForeignFolder, ownerWords } from './foreign-folder.ts';
import { RemedyButton, type RemedyDialogProps, type RemedyProps } from './remedy-button.tsx';

export function TrustFolderButton({ folder, ...rest }: RemedyProps & { readonly folder: ForeignFolder }) {
  return (
    <RemedyButton
      label="Trust this folder…"
      dialog={(props) => <TrustDialog folder={folder} {...props} />}
      {...rest}
    />
  );
}

function TrustDialog({ folder, onClose, onMended }: RemedyDialogProps & { readonly folder: ForeignFolder }) {
  const { owner, path, root } = folder;
  const trust = useDo('home.trustFolder', { refreshes: ['home.list', 'home.look', 'remotes.list'] });
  return (
    <FormDialog
      title="Trust this folder?"
      onClose={onClose}
      action="Trust this folder"
      isPending={trust.isPending}
      onSubmit={() => trust.mutate({ root, owner }, { onSuccess: onMended })}
    >
      <p>
        <span className="code">{path}</span> belongs to <strong>{ownerWords(folder)}</strong>, not to you. Who
        owns it can change its settings at any time, and these settings decide:
      </p>
      <ul className="failure-list">
        <li>which remotes a push sends your files to, and which one a pull takes files from</li>
        <li>which of your saved keys and tokens sign the requests to these remotes</li>
        <li>the author of your commits</li>
      </ul>
      <p className="soft">
        Trust it only if you trust its owner with that. Dray then opens <span className="code">{root}</span>{' '}
        for you, here and at a command line. Your own settings keep this.
      </p>
      {trust.error && <Notice tone="danger">{failureWords(trust.error)}</Notice>}
    </FormDialog>
  );
}
