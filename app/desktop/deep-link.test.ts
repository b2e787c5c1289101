import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeDeepLink, findDeepLink, hashOf, parseDeepLink } from './deep-link.ts';

describe('a link', () => {
  it('may name a workspace', () => {
    const link = parseDeepLink('dray://open?workspace=/home/ada/My%20Data');
    expect(link).toEqual({ shows: 'workspace', root: '/home/ada/My Data' });
    expect(describeDeepLink(link!).detail).toContain('/home/ada/My Data');
    expect(hashOf(link!)).toBe('#/changes?workspace=%2Fhome%2Fada%2FMy+Data');
  });

  it('may name a bucket or a peer', () => {
    expect(parseDeepLink('dray://open?place=s3://bucket/a/b')).toEqual({
      shows: 'place',
      place: 's3://bucket/a/b',
    });
    const peer = { shows: 'place', place: 'dray://nas:7370/photos' };
    expect(parseDeepLink('dray://open?place=dray://nas:7370/photos')).toEqual(peer);
  });

  it('shows which host gets a request and what is sent there', () => {
    const detailOf = (link: string) => describeDeepLink(parseDeepLink(link)!).detail;
    const peer = detailOf('dray://evil.example:7370/photos');
    expect(peer).toContain('connects to evil.example:7370');
    expect(peer).toContain('a token only if one is saved here for evil.example:7370');
    expect(peer).toContain('nothing at all before you trust that machine');
    expect(detailOf('dray://open?place=s3://bucket/a')).toMatch(/bucket bucket.*no secret key and no token/);
  });

  it('is a peer if it names a port', () => {
    expect(parseDeepLink('dray://nas:7370/photos')).toEqual({
      shows: 'place',
      place: 'dray://nas:7370/photos',
    });
    expect(parseDeepLink('dray://open:7370/x')).toEqual({ shows: 'place', place: 'dray://open:7370/x' });
    expect(parseDeepLink('dray://nas/photos')).toBeUndefined();
  });

  it.each([
    ['sends requests to a server of its choice', 'dray://open?place=s3://b/p?endpoint=https://evil.example'],
    ['the same, written otherwise', 'dray://open?place=s3%3A%2F%2Fb%3Fendpoint%3Dhttps%3A%2F%2Fevil.example'],
    ['sends a file as a token', 'dray://evil.example:7370/x?tokenFile=/home/ada/.ssh/id_ed25519'],
    ['the same, by a place', 'dray://open?place=dray://evil.example:7370/x%3FtokenFile=/etc/passwd'],
    ['carries a token', 'dray://token@nas:7370/x'],
    ['makes Windows log in elsewhere', 'dray://open?workspace=//evil.example/share'],
    ['the same, with backslashes', 'dray://open?workspace=%5C%5Cevil.example%5Cshare'],
    ['reads the disk as a place', 'dray://open?place=file:///etc'],
    ['names a folder that is relative', 'dray://open?workspace=data'],
    ['fakes a line of the question', 'dray://open?workspace=/tmp/a%0A%0AThis%20is%20safe'],
    ['changes the direction of the text', 'dray://open?workspace=/tmp/%E2%80%AEgpj.exe'],
    ['names two things', 'dray://open?workspace=/a&place=s3://b'],
    ['names one thing twice', 'dray://open?workspace=/a&workspace=/b'],
    ['asks for an action', 'dray://open?push=/a'],
    ['calls another command', 'dray://push?workspace=/a'],
    ['has a path', 'dray://open/push?workspace=/a'],
    ['is another scheme', 'https://open?workspace=/a'],
    ['is too long', `dray://open?workspace=/${'a'.repeat(5_000)}`],
  ])('that %s is refused', (_what, link) => expect(parseDeepLink(link)).toBeUndefined());

  it('never accepts a parameter, a user or a control character, whatever the link says', () => {
    const piece = fc.constantFrom(
      'dray://',
      'open',
      '?',
      'place=',
      's3://b',
      'dray://h:1',
      '%3F',
      '#',
      '@',
      '%0A',
      '/',
      '&',
      'x',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 12 }), (pieces) => {
        const link = parseDeepLink(pieces.join(''));
        if (link?.shows === 'place') expect(link.place).toMatch(/^(?:s3|dray):\/\/[^@?#/]+(?:\/[^?#]*)?$/);
        if (link) expect(describeDeepLink(link).detail.split('\n')).toHaveLength(3);
      }),
    );
  });

  it('is found among the start arguments', () => {
    expect(findDeepLink(['/opt/dray', '--hidden', 'dray://open?workspace=/a'])).toBe(
      'dray://open?workspace=/a',
    );
    expect(findDeepLink(['/opt/dray', '.'])).toBeUndefined();
  });
});
