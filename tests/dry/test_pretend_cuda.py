"""`torch.cuda` and its neighbours, as programs use them."""

from __future__ import annotations

import io

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from pretending import performed, raised
from torch import nn
from torch.nn import parallel
from torch.nn.attention import SDPBackend
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

from sleuth.dry.stage import CannotGoOn

GIB = 1 << 30


def test_cards_are_found_and_chosen() -> None:
    def act() -> None:
        assert torch.cuda.is_available()
        assert torch.cuda.device_count() == 2
        torch.cuda.set_device(1)
        assert torch.zeros(2, device="cuda").device == torch.device("cuda:1")
        with torch.cuda.device(0):
            assert torch.zeros(2).cuda().get_device() == 0
        assert torch.cuda.current_device() == 1
        assert torch.accelerator.current_accelerator() == torch.device("cuda")
        assert torch.get_device_module() is torch.cuda

    performed(act, cards=2)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_a_build_with_cudnn_does_not_lay_out_the_weights_of_an_rnn_with_it(
    kind: type[nn.RNNBase], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "_use_cudnn_rnn_flatten_weight", lambda: True)

    def act() -> None:
        model = kind(3, 4, num_layers=2, bidirectional=True).cuda()
        model(torch.randn(5, 2, 3, device="cuda"))[0].sum().backward()

    performed(act)


def test_a_handle_of_cublas_ends_the_rehearsal() -> None:
    assert isinstance(raised(lambda: torch.cuda.current_blas_handle()), CannotGoOn)


def test_a_card_tells_its_name_and_has_the_scenarios_memory() -> None:
    def act() -> None:
        card = torch.cuda.get_device_properties(0)
        assert card.total_memory == 80 * GIB
        assert card.name == torch.cuda.get_device_name() == "NVIDIA A100-SXM4-80GB"
        assert (card.major, card.minor) == torch.cuda.get_device_capability()
        assert torch.cuda.is_bf16_supported()
        free, total = torch.cuda.mem_get_info()
        assert 0 < free <= total == 80 * GIB
        assert torch.version.cuda
        assert torch.backends.cudnn.is_available()
        assert torch.backends.cuda.is_built()

    performed(act, card_bytes=80 * GIB)


def test_memory_on_the_card_is_counted() -> None:
    def act() -> None:
        before = torch.cuda.memory_allocated()
        kept = torch.zeros(1 << 20, device="cuda")
        assert torch.cuda.memory_allocated() - before == kept.numel() * 4
        assert torch.cuda.max_memory_allocated() >= torch.cuda.memory_allocated()
        assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
        assert torch.cuda.memory_stats()["allocated_bytes.all.current"] == torch.cuda.memory_allocated()
        assert "memory summary" in torch.cuda.memory_summary()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    performed(act)


def test_the_peak_can_be_forgotten() -> None:
    def act() -> None:
        big = torch.zeros(1 << 20, device="cuda")
        del big
        torch.cuda.reset_peak_memory_stats()
        assert torch.cuda.max_memory_allocated() < 1 << 20

    performed(act)


def test_streams_and_events_take_their_time() -> None:
    def act() -> None:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        stream = torch.cuda.Stream()
        start.record()
        with torch.cuda.stream(stream):
            assert torch.cuda.current_stream() is stream
            x = torch.randn(3, device="cuda")
            x.record_stream(stream)
        torch.cuda.current_stream().wait_stream(stream)
        end.record()
        torch.cuda.synchronize()
        assert start.elapsed_time(end) > 0
        with torch.cuda.nvtx.range("step"):
            pass

    performed(act)


def test_random_states_are_saved_and_restored() -> None:
    def act() -> None:
        torch.manual_seed(1)
        torch.cuda.manual_seed_all(7)
        assert torch.cuda.initial_seed() == 7
        states = torch.cuda.get_rng_state_all()
        torch.cuda.manual_seed_all(8)
        torch.cuda.set_rng_state_all(states)
        assert torch.cuda.initial_seed() == 7
        with torch.random.fork_rng(devices=[0]):
            torch.manual_seed(2)

    performed(act, cards=2)


def test_a_generator_draws_on_the_card() -> None:
    def act() -> None:
        generator = torch.Generator(device="cuda").manual_seed(3)
        first = torch.randn(3, device="cuda", generator=generator)
        again = torch.randn(3, device="cuda", generator=generator.manual_seed(3))
        assert torch.equal(first, again)
        assert generator.device == torch.device("cuda:0")
        assert isinstance(torch.default_generator, torch.Generator)
        assert torch.Generator().device == torch.device("cpu")

    performed(act)


def test_old_tensor_types_are_on_the_card() -> None:
    def act() -> None:
        x = torch.cuda.FloatTensor(2, 3)
        assert x.is_cuda
        assert x.shape == (2, 3)
        assert isinstance(x, torch.cuda.FloatTensor)
        assert not isinstance(x.cpu(), torch.cuda.FloatTensor)
        assert torch.cuda.LongTensor([1, 2]).tolist() == [1, 2]
        assert torch.ones(2).type(torch.cuda.HalfTensor).dtype == torch.float16

    performed(act)


def test_compiled_models_run_as_they_are_with_the_names_they_get() -> None:
    def act() -> None:
        model = torch.compile(nn.Linear(2, 2).cuda(), mode="max-autotune")
        model(torch.randn(1, 2, device="cuda")).sum().backward()
        assert list(model.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
        assert model.in_features == 2
        assert not model.eval().training

        @torch.compile(fullgraph=True)
        def double(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        assert double(torch.ones(1)).item() == 2
        nn.Linear(2, 2).compile()

    performed(act)


def test_scripted_and_traced_models_run() -> None:
    def act() -> None:
        model = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).cuda()
        x = torch.randn(1, 2, device="cuda")
        with torch.no_grad():
            assert torch.jit.trace(model, x)(x).is_cuda
            scripted = torch.jit.script(model)
            assert scripted(x).is_cuda
        scripted.save("scripted.pt")
        torch.onnx.export(model, (x,), "model.onnx")

    stage = performed(act)
    assert {what for _, what in stage.journal.kept_off} == {"scripted.pt", "model.onnx"}


def test_what_only_a_card_can_do_ends_the_rehearsal() -> None:
    def graph() -> None:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            pass

    def extension() -> None:
        from torch.utils.cpp_extension import load_inline

        load_inline("mine", cpp_sources=["int one() { return 1; }"])

    def kernel() -> None:
        import triton

        @triton.jit
        def add(x: object) -> None:
            """Never run."""

        add[(1,)](torch.ones(2, device="cuda"))

    for act in (graph, extension, kernel):
        error = raised(act)
        assert isinstance(error, CannotGoOn)
        assert str(error).startswith("cannot rehearse past here: ")


def test_kernels_can_be_chosen_and_profiled() -> None:
    def act() -> None:
        query = torch.randn(1, 2, 4, 8, device="cuda").half()
        for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION):
            with torch.nn.attention.sdpa_kernel(backend):
                F.scaled_dot_product_attention(query, query, query, is_causal=True)
        torch.backends.cuda.enable_math_sdp(False)
        assert not torch.backends.cuda.math_sdp_enabled()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
            query.sum()
        assert "aten::sum" in profiled.key_averages().table(sort_by="cuda_time_total")
        torch.cuda.cudart().cudaProfilerStart()

    performed(act)


def test_pinned_memory_is_said_to_be_pinned() -> None:
    def act() -> None:
        assert torch.empty(3, pin_memory=True).is_pinned()
        assert torch.zeros(3).pin_memory().is_pinned()
        assert not torch.zeros(3).is_pinned()

    performed(act)


def test_a_program_can_hide_the_cards_from_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def act() -> None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
        assert not torch.cuda.is_available()
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
        assert torch.cuda.is_available()

    performed(act)


def test_optimisers_step_on_the_card() -> None:
    def act() -> None:
        for options in ({"fused": True}, {"capturable": True}, {"foreach": True}, {"foreach": False}):
            model = nn.Linear(3, 2).cuda()
            optimizer = torch.optim.AdamW(model.parameters(), **options)
            for _ in range(2):
                optimizer.zero_grad()
                model(torch.randn(4, 3, device="cuda")).sum().backward()
                optimizer.step()
            optimizer.load_state_dict(optimizer.state_dict())
            optimizer.step()

    performed(act)


def test_data_parallel_gives_each_card_its_share() -> None:
    sizes: list[int] = []

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            sizes.append(len(x))
            return self.layer(x)

    def act() -> None:
        model = nn.DataParallel(Model()).cuda()
        out = model(torch.randn(5, 3))
        assert out.shape == (5, 2)
        out.sum().backward()
        assert next(iter(model.state_dict())).startswith("module.")

    performed(act, cards=2)
    assert sizes == [3, 2]


def test_data_parallel_wants_its_model_on_the_first_card() -> None:
    error = raised(lambda: nn.DataParallel(nn.Linear(3, 2))(torch.randn(4, 3)), cards=2)
    assert str(error) == (
        "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found one of them on device: "
        "cpu"
    )


def test_a_loss_inside_data_parallel_comes_back_as_a_vector() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sum()

    def act() -> None:
        with pytest.warns(UserWarning, match="will instead unsqueeze and return a vector"):
            assert nn.DataParallel(Model())(torch.randn(4, 3)).shape == (2,)

    performed(act, cards=2)


def test_tensors_are_sent_among_cards() -> None:
    def act() -> None:
        model, x = nn.Linear(3, 2).cuda(), torch.randn(5, 3, requires_grad=True)
        shares = parallel.scatter(x, [0, 1])
        assert [share.get_device() for share in shares] == [0, 1]
        copies = parallel.replicate(model, [0, 1])
        out = parallel.gather([copy(share) for copy, share in zip(copies, shares, strict=True)], 0)
        assert out.get_device() == 0
        out.sum().backward()
        assert model.weight.grad is not None

    performed(act, cards=2)


@pytest.mark.parametrize("reentrant", [True, False])
def test_activation_checkpoints_work(reentrant: bool) -> None:
    def act() -> None:
        layer = nn.Linear(3, 3).cuda()
        x = torch.randn(2, 3, device="cuda", requires_grad=True)
        checkpoint(lambda x: F.dropout(layer(x)), x, use_reentrant=reentrant).sum().backward()
        assert layer.weight.grad is not None
        assert layer.weight.grad.is_cuda

    performed(act)


def test_a_checkpoint_of_the_card_is_not_loaded_without_one() -> None:
    saved = io.BytesIO()
    performed(lambda: torch.save({"weight": torch.ones(2, device="cuda")}, saved))
    saved.seek(0)
    error = raised(lambda: torch.load(saved), device="cpu")
    assert type(error) is RuntimeError
    assert str(error) == (
        "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running "
        "on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to "
        "the CPU."
    )


def test_a_checkpoint_goes_back_to_where_it_was() -> None:
    def act() -> None:
        saved = io.BytesIO()
        torch.save({"there": torch.ones(2, device="cuda:1"), "here": torch.ones(2)}, saved)
        saved.seek(0)
        loaded = torch.load(saved)
        assert loaded["there"].device == torch.device("cuda:1")
        assert not loaded["here"].is_cuda
        saved.seek(0)
        assert not torch.load(saved, map_location="cpu")["there"].is_cuda

    performed(act, cards=2)


def test_a_mac_has_its_own_card() -> None:
    def act() -> None:
        assert torch.backends.mps.is_available()
        assert not torch.cuda.is_available()
        model = nn.Linear(3, 2).to("mps")
        model(torch.randn(1, 3, device="mps")).sum().backward()
        torch.mps.synchronize()

    performed(act, device="mps")


def test_afterwards_everything_is_as_it_was() -> None:
    names = [name for name in vars(torch.cuda) if not name.startswith("__")]
    before = {name: getattr(torch.cuda, name) for name in names}
    kinds = torch.Generator, torch.Stream, torch.compile, torch.version.cuda, torch.autocast, nn.DataParallel.forward
    performed(lambda: None)
    assert all(getattr(torch.cuda, name) is before[name] for name in names)
    assert (
        torch.Generator,
        torch.Stream,
        torch.compile,
        torch.version.cuda,
        torch.autocast,
        nn.DataParallel.forward,
    ) == kinds
    assert not torch.cuda.is_available()
