/** Leads to a job in Temporal's own screens. */
import { Button } from '../../design/controls/button.tsx';
import { copyText } from '../../shell/copy-text.ts';

/** The desktop app opens pages of other programs by `https:` alone; any other address can be copied. */
export function TemporalLink({ job, url }: { readonly job: string; readonly url: string }) {
  if (window.dray && !url.startsWith('https:'))
    return (
      <Button
        size="small"
        icon="copy"
        onPress={() => void copyText(url, `the address of ${job} in Temporal's screens`)}
      >
        Copy its address in Temporal
      </Button>
    );
  return (
    <a className="small" href={url} target="_blank" rel="noreferrer">
      Open in Temporal<span className="unseen"> ({job}, in a new tab)</span>
    </a>
  );
}
