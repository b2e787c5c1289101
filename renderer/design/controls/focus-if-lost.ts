/**
 * Sets the focus once an overlay that closes had its turn to give it back, unless something has it by then.
 * For elements that disappear while they have the focus, which falls to the page's start.
 */
export function focusIfLost(find: () => HTMLElement | null | undefined): void {
  // A dialog or a menu gives it back in the next frame.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (document.activeElement === document.body) find()?.focus();
    }),
  );
}
