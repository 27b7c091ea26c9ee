import os

# Some virtual machines announce AMX and trap on it: bfloat16 would end the test process. Set before torch is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")
