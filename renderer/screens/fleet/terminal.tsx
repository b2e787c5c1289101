/** Commands to type, each with what it does. */
import { IconButton } from '../../design/controls/button.tsx';
import { copyText } from '../../shell/copy-text.ts';

export function Terminal({
  lines,
}: {
  readonly lines: readonly (readonly [command: string, what: string])[];
}) {
  return (
    <ol className="fleet-commands">
      {lines.map(([command, what]) => (
        <li key={command} className="row">
          <div className="grow">
            <div className="small faint">{what}</div>
            <div className="code fleet-command">{command}</div>
          </div>
          <IconButton
            icon="copy"
            size="small"
            label={`Copy ${command}`}
            onPress={() => void copyText(command, 'the command')}
          />
        </li>
      ))}
    </ol>
  );
}
