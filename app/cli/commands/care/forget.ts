import type { Command } from 'commander';
import type { KeepReason, RetentionEvent } from '../../../../engine/api/events.ts';
import { given } from '../../../../engine/api/given.ts';
import type { ForgetRequest, ForgetSummary, RetentionPolicy } from '../../../../engine/api/jobs/jobs.ts';
import { formatCount, formatHash, formatPlural } from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../../command-host.ts';
import { collect } from '../../options/collect.ts';
import { addExamples } from '../../options/examples.ts';
import { parseCount } from '../../options/global-options.ts';
import { quotePath } from '../../output/terminal-text.ts';

interface ForgetOptions {
  readonly keepLast?: number;
  readonly keepDaily?: number;
  readonly keepWeekly?: number;
  readonly keepMonthly?: number;
  readonly keepWithin?: string;
  readonly keepTag?: readonly string[];
  readonly save?: true;
  readonly dryRun?: true;
}

const TAGS_SHOWN = 20;
const parseKept = (text: string) => parseCount(text, { min: 1, max: 1_000_000 });

export function addForgetCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('forget')
    .summary('decide which commits stay')
    .description(
      'Applies a retention policy to the history of each branch. A commit stays if one rule keeps it, or if a branch or a tag names it. All others are forgotten: they stay in the log, but their files can no longer be read. Without rules: the policy that is kept with the repository. A tag pattern removes the tags that it matches.',
    )
    .argument('[tag-pattern...]', 'tags to remove, so that the policy decides about their commits')
    .option('--keep-last <n>', 'the newest n commits', parseKept)
    .option('--keep-daily <n>', 'the newest commit of each of the last n days with a commit', parseKept)
    .option('--keep-weekly <n>', 'the same of ISO weeks', parseKept)
    .option('--keep-monthly <n>', 'the same of months', parseKept)
    .option('--keep-within <duration>', 'commits newer than, such as 30d or 1y6m, before the newest one')
    .option('--keep-tag <pattern>', 'commits with such a tag; these tags stay (repeatable)', collect)
    .option('--save', 'keep these rules with the repository, for runs without rules')
    .option('-n, --dry-run', 'only show what stays and what goes')
    .action((tags: string[], options: ForgetOptions, self: Command) =>
      runCommand(host, self, {
        check: () => requestOf(tags, options),
        start: async (context) =>
          (await import('../../../../engine/jobs/retention/forget.ts')).forget(
            context,
            requestOf(tags, options),
          ),
        view: forgetView,
      }),
    );
  addExamples(command, [
    ['dray forget --keep-last 5 --dry-run', 'what would stay'],
    ['dray forget --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --save', 'a policy, kept for later runs'],
    ['dray forget', 'apply the kept policy'],
    ["dray forget 'nightly-*' --keep-last 5", 'these tags no longer hold their commits'],
  ]);
}

function requestOf(tags: readonly string[], options: ForgetOptions): ForgetRequest {
  const { dryRun, keepTag, save, ...rules } = options;
  const policy: RetentionPolicy = given({ ...rules, keepTags: keepTag });
  const hasRules = Object.keys(policy).length > 0;
  if (save && !hasRules) throw usageError('--save needs rules to keep, such as --keep-last 5.');
  return {
    ...given({ save, dryRun }),
    ...(hasRules ? { policy } : {}),
    ...(tags.length > 0 ? { tags } : {}),
  };
}

const forgetView: CommandView<ForgetSummary> = {
  onEvent: (event, output) => {
    if (event.type === 'retention') output.result(formatVerdict(event));
  },
  onSummary: ({ forgotten, removedTags, requests, result, saved, stay }, output) => {
    const commits = formatPlural(forgotten, 'commit');
    const kept = `${formatCount(stay)}.`;
    if (result === 'nothingToForget') output.note(`Nothing to forget. Kept ${formatPlural(stay, 'commit')}.`);
    else if (result === 'wouldForget') output.note(`Would forget ${commits} and keep ${kept}`);
    else output.note(`Forgot ${commits}, kept ${kept} ${formatPlural(requests.total, 'request')}.`);
    if (removedTags.length > 0) {
      const names = removedTags.slice(0, TAGS_SHOWN).map(quotePath).join(', ');
      const more = removedTags.length > TAGS_SHOWN ? ` and ${removedTags.length - TAGS_SHOWN} more` : '';
      const what = removedTags.length === 1 ? 'tag' : 'tags';
      output.note(`${result === 'wouldForget' ? 'Would remove' : 'Removed'} the ${what} ${names}${more}.`);
    }
    if (saved) output.note('The rules are kept with the repository: "dray forget" applies them.');
  },
};

/** A rule that keeps a commit for several branches is named once. */
function formatVerdict({ commit, keptBy, message, time }: RetentionEvent): string {
  const isKept = keptBy.length > 0;
  const reasons = isKept ? `  (${[...new Set(keptBy.map(formatReason))].join(', ')})` : '';
  const [subject = ''] = (message || '(no message)').split('\n', 1);
  return `${isKept ? 'keep  ' : 'forget'}  ${formatHash(commit)}  ${time}  ${quotePath(subject)}${reasons}`;
}

function formatReason({ ref, rule }: KeepReason): string {
  return rule === 'ref' ? quotePath(ref) : rule;
}
