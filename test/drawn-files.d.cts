interface TestFile {
  readonly path: string;
}

export function drawnFiles<File extends TestFile>(
  tests: readonly File[],
  how: {
    readonly rootDir: string;
    readonly seed: number;
    readonly way: string | undefined;
    readonly rankOf: (test: File) => number | undefined;
    readonly hasFailed: (test: File) => boolean;
  },
): readonly File[];
