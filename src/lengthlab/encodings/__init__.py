"""Encodings decide what a position id does inside the model: nothing, an embedding, a rotation, a bias."""

from typing import TYPE_CHECKING

from lengthlab.config.registry import Registry

ENCODINGS = Registry("encoding", __name__, default="none", options="options:OPTIONS")
ENCODINGS.add("none", "none:NoEncoding", "no position information at all (NoPE)")
ENCODINGS.add("sinusoidal", "absolute:Sinusoidal", "embedding: fixed sines and cosines (Vaswani et al. 2017)")
ENCODINGS.add("learned", "absolute:Learned", "embedding: a trained vector for each id")
ENCODINGS.add("shaw", "shaw:Shaw", "relative vectors on keys, optionally on values (Shaw et al. 2018)")
ENCODINGS.add("t5", "bucketed:T5", "bias: one for each logarithmic bucket of distances (Raffel et al. 2020)")
ENCODINGS.add("alibi", "alibi:Alibi", "bias: a fixed linear penalty on distance (Press et al. 2022)")
ENCODINGS.add("hard-alibi", "alibi:HardAlibi", "bias: a hard window for some heads (Jelassi et al. 2024)")
ENCODINGS.add("kerple-log", "kerple:KerpleLog", "bias: a learned logarithmic penalty on distance (Chi et al. 2022)")
ENCODINGS.add("kerple-power", "kerple:KerplePower", "bias: a learned power penalty on distance (Chi et al. 2022)")
ENCODINGS.add("fire", "fire:Fire", "bias: a learned function of the normalised log distance (FIRE, Li et al. 2023)")
ENCODINGS.add("rope", "rope:Rope", "rotation of queries and keys (Su et al. 2021); linear, NTK and YaRN scaling")
ENCODINGS.add("cope", "cope:Cope", "bias: positions counted by content (Golovneva et al. 2024)")
ENCODINGS.add("clipped", "bucketed:Clipped", "bias: one for each small difference of ids; made for coupled ids")

ENCODINGS.also_known_as("none", "NoPE")
ENCODINGS.also_known_as("learned", "absolute", "APE")
ENCODINGS.also_known_as("t5", "T5 bias")
ENCODINGS.also_known_as("kerple-log", "KERPLE")
ENCODINGS.also_known_as("rope", "rotary", "RoFormer")
__getattr__, __dir__ = ENCODINGS.class_named, ENCODINGS.attributes  # classes are imported when they are asked for

if TYPE_CHECKING:  # table: encodings
    from lengthlab.encodings.absolute import Learned as Learned
    from lengthlab.encodings.absolute import Sinusoidal as Sinusoidal
    from lengthlab.encodings.alibi import Alibi as Alibi
    from lengthlab.encodings.alibi import HardAlibi as HardAlibi
    from lengthlab.encodings.bucketed import T5 as T5
    from lengthlab.encodings.bucketed import Clipped as Clipped
    from lengthlab.encodings.cope import Cope as Cope
    from lengthlab.encodings.fire import Fire as Fire
    from lengthlab.encodings.kerple import KerpleLog as KerpleLog
    from lengthlab.encodings.kerple import KerplePower as KerplePower
    from lengthlab.encodings.none import NoEncoding as NoEncoding
    from lengthlab.encodings.rope import Rope as Rope
    from lengthlab.encodings.shaw import Shaw as Shaw
# end
