import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellWord } from './shell-word.ts';

describe('a word of a command line', () => {
  it('stays as it is where no shell would change it', () => {
    expect(shellWord('/srv/team-1/a_b.csv')).toBe('/srv/team-1/a_b.csv');
  });

  it.skipIf(process.platform === 'win32').each(['', 'a b', "it's", '$(id)', '`id`', 'a;b', '*', '~', 'é\n#'])(
    'is the very same text to a shell (%j)',
    (text) => {
      const printed = execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' });
      expect(printed).toBe(text);
    },
  );
});
