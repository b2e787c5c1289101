/** Two pictures beside each other or, with a slider, one over the other. */
import './image-sides.css';
import { useState } from 'react';
import type { FilePreview } from '../../../engine/api/host/file-preview.ts';
import { Segmented } from '../../design/controls/choices.tsx';

type Picture = Extract<FilePreview, { as: 'image' }>;

export interface ImageSidesProps {
  /** Absent if the version is no picture, or does not exist. */
  readonly before: Picture | undefined;
  readonly after: Picture | undefined;
  readonly titles: { readonly before: string; readonly after: string };
}

export function ImageSides({ before, after, titles }: ImageSidesProps) {
  const [look, setLook] = useState<'beside' | 'over'>('beside');
  const both = before && after;
  return (
    <div className="image-sides">
      {both && (
        <Segmented
          label="How the pictures are compared"
          size="small"
          value={look}
          onChange={setLook}
          choices={[
            { id: 'beside', label: 'Side by side' },
            { id: 'over', label: 'Slider' },
          ]}
        />
      )}
      {both && look === 'over' ? (
        <Slider before={before} after={after} titles={titles} />
      ) : (
        <div className="two-sides-images">
          {before && <ImageSide title={titles.before} side={before} />}
          {after && <ImageSide title={titles.after} side={after} />}
        </div>
      )}
    </div>
  );
}

function Slider({ before, after, titles }: Required<ImageSidesProps> & { before: Picture; after: Picture }) {
  const [percent, setPercent] = useState(50);
  return (
    <div className="image-slider">
      <div className="image-slider-box">
        <img src={sourceOf(before)} alt={titles.before} />
        <img src={sourceOf(after)} alt={titles.after} style={{ clipPath: `inset(0 0 0 ${percent}%)` }} />
      </div>
      <input
        type="range"
        min={0}
        max={100}
        value={percent}
        aria-label="Where the later picture begins"
        aria-valuetext={`${percent} % before, ${100 - percent} % after`}
        onChange={({ target }) => setPercent(Number(target.value))}
      />
    </div>
  );
}

function ImageSide({ title, side }: { readonly title: string; readonly side: Picture }) {
  return (
    <figure className="two-sides-image">
      <img src={sourceOf(side)} alt={title} />
      <figcaption className="faint small">{title}</figcaption>
    </figure>
  );
}

function sourceOf({ base64, mime }: Picture): string {
  return `data:${mime};base64,${base64}`;
}
