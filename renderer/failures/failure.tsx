/**
 * Shows an error on a screen: its message, and what the user can do about it here. Every error goes through
 * this file.
 */
import './failures.css';
import type { ReactNode } from 'react';
import { type ButtonProps, LinkButton } from '../design/controls/button.tsx';
import { LeavingButton } from '../design/controls/leaving-button.tsx';
import { Icon } from '../design/icon.tsx';
import { Notice, type NoticeTone } from '../design/states.tsx';
import { hrefOf, useRoute } from '../route.ts';
import { CommandDetail } from './command-detail.tsx';
import type { Failed } from './failed.ts';
import { adviceFor, failureWords } from './failure-words.ts';
import { peerNeedOf } from './peer-need.ts';
import { Fingerprint } from './peer-remedy.tsx';
import { Remedy } from './remedy.tsx';

export function FailureText({ error }: { readonly error: Failed }) {
  const need = peerNeedOf(error);
  if (need?.needs !== 'trust') return failureWords(error);
  return (
    <>
      {failureWords(error)} Compare its fingerprint with the one that was shown there when it began to serve:{' '}
      <Fingerprint text={need.fingerprint} />
    </>
  );
}

export interface ErrorStateProps {
  /** Names what failed: `Cannot read the history`. */
  readonly title: string;
  readonly error: Failed;
  readonly onRetry?: () => void;
  readonly actions?: ReactNode;
}

/** Instead of a screen's content. */
export function ErrorState({ title, error, onRetry, actions }: ErrorStateProps) {
  return (
    <div className="state" role="alert">
      <span className="state-icon state-icon-error">
        <Icon name="warning" size={24} />
      </span>
      <h2>{title}</h2>
      <p className="state-text">
        <FailureText error={error} /> {adviceFor(error).text}
      </p>
      <div className="state-actions">
        <Remedy error={error} onMended={onRetry} />
        {onRetry && (
          <LeavingButton icon="refresh" onPress={onRetry}>
            Try again
          </LeavingButton>
        )}
        {actions ?? <GoButton error={error} />}
      </div>
      <CommandDetail error={error} />
      {error.code !== undefined && <p className="state-code code">{error.code}</p>}
    </div>
  );
}

export interface ErrorNoticeProps {
  readonly error: Failed;
  readonly tone?: NoticeTone;
  /** Names what failed, before the error's message. */
  readonly lead?: ReactNode;
  /** The next step, shown after the message. Default: by the error's code. */
  readonly advice?: string;
  /** Retries, once the machine is trusted or has its token. */
  readonly onMended?: () => void;
  readonly actions?: ReactNode;
}

/** Within a screen. */
export function ErrorNotice({ error, tone = 'danger', lead, advice, onMended, actions }: ErrorNoticeProps) {
  return (
    <Notice
      tone={tone}
      actions={
        <>
          <Remedy size="small" error={error} onMended={onMended} />
          {actions ?? <GoButton size="small" error={error} />}
        </>
      }
    >
      {lead} <FailureText error={error} /> {advice ?? adviceFor(error).text}
      <CommandDetail error={error} />
    </Notice>
  );
}

/** A link to the screen that can fix the error. Nothing on that screen itself. */
export function GoButton({
  error,
  size = 'normal',
}: {
  readonly error: Failed;
  readonly size?: NonNullable<ButtonProps['size']>;
}) {
  const { go } = adviceFor(error);
  const { screen } = useRoute();
  if (!go || go.screen === screen) return null;
  return (
    <LinkButton size={size} href={hrefOf(go.screen)}>
      {go.label}
    </LinkButton>
  );
}
