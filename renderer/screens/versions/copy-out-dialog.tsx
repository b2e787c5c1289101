/** Asks for a folder of this computer, to which the chosen part of a version is copied. */
import { useState } from 'react';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { FormDialog } from '../../design/overlays/dialog.tsx';
import { type Location, localLocation } from '../browse/places.ts';
import { FolderPicker } from '../home/folder-picker.tsx';
import { isAbsolute } from '../place-form/place-fields.ts';

export interface CopyOutDialogProps {
  readonly count: number;
  readonly onCopy: (into: Location) => void;
  readonly onClose: () => void;
}

export function CopyOutDialog({ count, onCopy, onClose }: CopyOutDialogProps) {
  const [folder, setFolder] = useState('');
  const [isTried, setTried] = useState(false);
  const fault = isAbsolute(folder) ? undefined : 'Choose a folder, or type its whole path.';
  return (
    <FormDialog
      title={`Copy ${formatPlural(count, 'entry', 'entries')} out`}
      onClose={onClose}
      action="Copy"
      onSubmit={() => {
        setTried(true);
        if (fault !== undefined) return;
        onCopy(localLocation(folder));
        onClose();
      }}
    >
      <FolderPicker
        label="Folder to copy into"
        help="It is created if it does not exist. Your workspace stays as it is."
        value={folder}
        onChange={setFolder}
        error={isTried ? fault : undefined}
      />
    </FormDialog>
  );
}
