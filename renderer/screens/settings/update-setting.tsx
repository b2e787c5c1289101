/** Where packages of the desktop app lie and which are wanted; what a look there found. */
import { useRef, useState } from 'react';
import type { Settings, UpdateChannel, UpdateLook } from '../../../engine/api/host.ts';
import { formatBytes } from '../../../engine/api/numbers.ts';
import { Button } from '../../design/button.tsx';
import { Segmented } from '../../design/choices.tsx';
import { Field } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { useUpdateLook } from '../../host/use-update-look.ts';
import { useStartTransfers } from '../start-transfer.ts';
import type { SettingProps } from './setting-props.ts';

export function UpdateSetting({ settings: { updates }, set }: SettingProps) {
  const { channel, place } = updates;
  return (
    <div className="stack">
      <Segmented<UpdateChannel>
        label="Update channel"
        value={channel}
        onChange={(next) => void set({ updates: { channel: next, place } })}
        choices={[
          { id: 'off', label: 'Off' },
          { id: 'stable', label: 'Stable' },
          { id: 'preview', label: 'Preview' },
        ]}
      />
      {channel === 'off' ? (
        <p className="soft">
          Dray looks for no updates: it asks no server, and nobody is told that you use it. Install a newer
          release over this one; workspaces, remotes, settings and paused transfers stay as they are.
        </p>
      ) : (
        <Packages updates={updates} set={set} />
      )}
    </div>
  );
}

interface PackagesProps {
  readonly updates: Settings['updates'];
  readonly set: SettingProps['set'];
}

function Packages({ updates, set }: PackagesProps) {
  const { channel, place } = updates;
  const [text, setText] = useState(place ?? '');
  const keeping = useRef(Promise.resolve());
  const { data, error, isFetching, refetch } = useUpdateLook(updates);
  const keep = (): void => {
    const next = text.trim() === '' ? null : text.trim();
    if (next !== place) keeping.current = set({ updates: { channel, place: next } });
  };
  /** What was typed is kept before: the engine looks where its settings say. */
  const look = async (): Promise<void> => {
    await keeping.current;
    await refetch();
  };
  const when = `Looked at when a window opens, once a day at most${channel === 'preview' ? '; pre-releases count too' : ''}.`;
  return (
    <>
      <Field
        label="Place of the packages"
        value={text}
        onChange={setText}
        onBlur={keep}
        onKeyDown={(event) => event.key === 'Enter' && keep()}
        placeholder="s3://tools/dray"
        isCode
        help={`A folder, s3://BUCKET/PREFIX, dray://HOST/FOLDER, or NAME: of a remote. ${when}`}
        after={
          <Button
            icon="refresh"
            isDisabled={text.trim() === ''}
            isPending={isFetching}
            onPress={() => void look()}
          >
            Look now
          </Button>
        }
      />
      <div role="status">
        {isFetching ? (
          <p className="soft">Looking</p>
        ) : error ? (
          <Notice tone="danger">{error.message}</Notice>
        ) : (
          data && <Found found={data} />
        )}
      </div>
      <p className="small faint">
        Nothing is installed by itself, and nobody checks who made a package: name a place that only people
        whom you trust can write to.
      </p>
    </>
  );
}

function Found({ found: { downloads, fitting, names, newer, version } }: { readonly found: UpdateLook }) {
  const start = useStartTransfers();
  if (!newer)
    return fitting > 0 ? (
      <Notice tone="success">Nothing newer is there than this Dray {version}.</Notice>
    ) : (
      <Notice tone="warning">
        {names.length === 0 ? (
          'There is no desktop app for this system.'
        ) : (
          <>
            No package for this system is there. It would be called:
            {names.map((name) => (
              <div key={name} className="code">
                {name}
              </div>
            ))}
          </>
        )}
      </Notice>
    );
  const copy = { kind: 'copy', source: newer.place, destination: `${downloads}/` } as const;
  return (
    <Notice
      actions={
        <Button
          size="small"
          onPress={() => void start(`Dray ${newer.version} will be copied to ${downloads}`, [copy])}
        >
          {/[\\/]Downloads$/.test(downloads) ? 'Copy it to Downloads' : 'Copy it to the home folder'}
        </Button>
      }
    >
      Dray {newer.version} is there ({formatBytes(newer.sizeBytes)}).
    </Notice>
  );
}
