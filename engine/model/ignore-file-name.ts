/** Lists what a workspace leaves out, in the workspace's root or in any folder of it. */
export const IGNORE_FILE_NAME = '.drayignore';
