/**
 * Chooses a folder of this computer by browsing or typing. In the desktop app also by the system's dialog.
 */
import { ErrorNotice } from '../../failures/failure.tsx';
import './folder-picker.css';
import { useState } from 'react';
import { Button, IconButton } from '../../design/controls/button.tsx';
import { Field } from '../../design/controls/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { Loading } from '../../design/states.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { isAbsolute } from '../place-form/place-fields.ts';

export interface FolderPickerProps {
  readonly label: string;
  readonly help?: string;
  /** Absolute; '' before anything was chosen. */
  readonly value: string;
  readonly onChange: (folder: string) => void;
  readonly error?: string | undefined;
}

export function FolderPicker({ label, help, value, onChange, error: fault }: FolderPickerProps) {
  const [shown, setShown] = useState<string | undefined>(value === '' ? undefined : value);
  const { data, error, isPending } = useAsk(
    'home.listFolders',
    shown === undefined ? {} : { folder: shown },
    // A folder that was made elsewhere meanwhile.
    { keepsPrevious: true, onReturn: true },
  );
  const go = (folder: string) => {
    setShown(folder);
    onChange(folder);
  };
  const bridge = window.dray;
  return (
    <div className="stack">
      <Field
        label={label}
        help={help}
        value={value}
        onChange={onChange}
        error={fault}
        placeholder={data?.folder ?? ''}
        isCode
        spellCheck="false"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && isAbsolute(value)) setShown(value);
        }}
        after={
          bridge && (
            <Button
              icon="folder"
              onPress={async () => {
                const chosen = await bridge.chooseFolder(label);
                if (chosen !== undefined) go(chosen);
              }}
            >
              Choose
            </Button>
          )
        }
      />
      <div className="folders">
        <div className="folders-head">
          <IconButton
            icon="arrowUp"
            label="The folder above"
            size="small"
            isDisabled={data?.parent === undefined}
            onPress={() => {
              if (data?.parent !== undefined) go(data.parent);
            }}
          />
          <span className="cut code grow" title={data?.folder}>
            {data?.folder}
          </span>
          {data && data.folder !== value && (
            <Button size="small" onPress={() => onChange(data.folder)}>
              Use this folder
            </Button>
          )}
        </div>
        {error ? (
          <ErrorNotice tone="warning" error={error} />
        ) : isPending ? (
          <Loading label="Reading the folder" />
        ) : data.folders.length === 0 ? (
          <p className="folders-none">No folders in here.</p>
        ) : (
          <ul className="folders-list" aria-label={`Folders in ${data.folder}`}>
            {data.folders.map((name) => (
              <li key={name}>
                <button
                  type="button"
                  className="folders-one"
                  onClick={() => go(joinFolder(data.folder, name))}
                >
                  <Icon name="folder" />
                  <span className="cut grow">{name}</span>
                  <Icon name="chevronRight" size={12} />
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** In the host system's form, which its own folder shows. */
function joinFolder(folder: string, name: string): string {
  const separator = /^[A-Za-z]:|^\\\\/.test(folder) ? '\\' : '/';
  return folder.endsWith(separator) ? `${folder}${name}` : `${folder}${separator}${name}`;
}
