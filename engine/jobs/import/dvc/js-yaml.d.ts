/** The part of js-yaml that Dray uses. Its schema makes plain values only. */
declare module 'js-yaml' {
  export function load(text: string, options?: { readonly json?: boolean }): unknown;
}
