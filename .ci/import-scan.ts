/**
 * Finds a TypeScript file's imports: static, re-exported, dynamic and type imports, and workers named by `new
 * URL`.
 */

export interface FoundImport {
  readonly specifier: string;
  /** The line number, from 1. */
  readonly line: number;
  /** True for `export * from`. */
  readonly isStarExport: boolean;
}

/**
 * Comments and sample code in strings are blanked first. It is not a parser: the formatter gives every import
 * one of few shapes, and it matches those.
 */
export function findImports(source: string): FoundImport[] {
  const code = blankComments(source);
  const pattern =
    /(?<![\w$.'"`])(?:(import|export)\s(?:[^'"`;()]*?\sfrom\s*)?|import\s*\(\s*|new URL\(\s*(?=['"][^'"]+['"],\s*import\.meta\.url))(['"])([^'"\n]+)\2/g;
  return [...code.matchAll(pattern)].map((match) => {
    const at = (match.index ?? 0) + match[0].length;
    return {
      specifier: match[3] ?? '',
      line: code.slice(0, at).split('\n').length,
      isStarExport: /^\W*export\s+(?:type\s+)?\*/.test(match[0]),
    };
  });
}

/**
 * Replaces comments, templates and strings with quotes (sample code) by spaces, so that offsets and lines
 * stay.
 */
function blankComments(source: string): string {
  const tokens = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  return source.replace(tokens, (token) => {
    const isSpecifier = /^(['"])[^'"`]*\1$/.test(token);
    return isSpecifier ? token : token.replace(/[^\n]/g, ' ');
  });
}
