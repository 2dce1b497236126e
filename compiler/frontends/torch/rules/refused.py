"""The types of operators that are refused by name, and why."""

from ..registry import refuse

refuse(
    "is of torch's quantised tensors, whose scales the file does not have: "
    "export the model in floats",
    *("nn.intrinsic.quantized.ConvReLU2d", "nn.intrinsic.quantized.LinearReLU"),
    *("nn.quantized.Conv2d", "nn.quantized.DeQuantize", "nn.quantized.Linear"),
    *("nn.quantized.Quantize", "nn.quantized.cat"),
    *("torch.dequantize", "torch.quantize_per_tensor"),
)
refuse(
    "is a composition of torchaudio: write it as torch.stft or torch.istft",
    "torchaudio.functional.inverse_spectrogram",
    "torchaudio.functional.spectrogram",
)
refuse(
    "writes zeros into a part of a tensor, and pnnx does not say which: "
    "write torch.cat or torch.where instead",
    "aten::zero",
    "aten::zero_",
)
