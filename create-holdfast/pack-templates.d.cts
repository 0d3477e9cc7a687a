/** All templates as one JSON text, `{path: content}`. */
export declare function packedTemplates(): string;
