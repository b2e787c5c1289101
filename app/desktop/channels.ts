/** The channel names between the preload and the main process. The page never sees them. */
export const PORT_CHANNEL = 'dray:port';
export const SHOW_CHANNEL = 'dray:show';
export const CHOOSE_FOLDER_CHANNEL = 'dray:choose-folder';
export const REVEAL_CHANNEL = 'dray:reveal';
export const DRAG_CHANNEL = 'dray:drag';
export const TEST_NOTICE_CHANNEL = 'dray:test-notice';
export const SECRETS_CHANNEL = 'dray:secrets';
export const SAVE_KEYS_CHANNEL = 'dray:save-keys';
/** From the main process to a run of a saved job: stop, so that it can be resumed. */
export const STOP_MESSAGE = 'dray:stop';
