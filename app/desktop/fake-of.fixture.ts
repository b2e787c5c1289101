/**
 * The type of a fake for a part of Electron, from Electron's own types: it takes what the real one takes, and
 * returns as much of the real result as a test needs. A name, argument or result that Electron does not have
 * is a type error. Listeners are not checked here; the app's own are checked where they are written.
 */
export type FakeOf<Real> = { readonly [Name in keyof Real]?: FakeMember<Real[Name]> };

type FakeMember<Member> = Member extends abstract new (
  ...given: infer Given
) => infer Made
  ? (new (...given: Given) => FakeOf<Made>) | FakeOf<Member>
  : Member extends (...given: infer Given) => infer Answer
    ? (...given: FakeGiven<Given>) => FakeAnswer<Answer>
    : ((...given: never[]) => unknown) extends Member
      ? Member
      : Member extends object
        ? FakeOf<Member>
        : Member;

type FakeGiven<Given extends unknown[]> = { [At in keyof Given]: FakeArgument<Given[At]> };

type FakeArgument<Argument> =
  NonNullable<Argument> extends (...given: never) => infer Answer
    ? // biome-ignore lint/suspicious/noExplicitAny: the one type of argument that fits whatever a listener takes
      (...given: any[]) => Answer
    : Argument;

type FakeAnswer<Answer> =
  Answer extends Promise<infer Later>
    ? Promise<FakeAnswer<Later>>
    : Answer extends readonly (infer Item)[]
      ? readonly FakeAnswer<Item>[]
      : Answer extends Uint8Array
        ? Answer
        : Answer extends object
          ? FakeOf<Answer>
          : Answer;
